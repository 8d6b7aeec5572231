// Exceptions of the standard library and of our own, through frames with objects to destroy; function objects.
#include <any>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

struct Wrong : std::runtime_error {
    explicit Wrong(const std::string &what) : std::runtime_error("wrong: " + what) {}
};

struct Counted {
    static int alive;
    std::unique_ptr<std::string> name = std::make_unique<std::string>("counted");
    Counted() { alive++; }
    ~Counted() { alive--; }
};
int Counted::alive;

static int deep(int n)
{
    Counted counted;
    std::vector<int> numbers(3);
    if (n == 0)
        throw Wrong(*counted.name);
    return n % 5 == 4 ? numbers.at(n) : deep(n - 1) + 1;
}

static int plus(int a, int b) { return a + b; }

int main()
{
    std::map<std::string, int> caught;
    for (int n = 0; n < 20; n++) {
        try {
            deep(n);
        } catch (const std::out_of_range &) {
            caught["range"]++;
        } catch (const std::exception &problem) {
            caught[problem.what()]++;
        }
    }
    using namespace std::placeholders;
    std::vector<std::function<int(int)>> functions{
        std::bind(plus, _1, 5), [&caught](int n) { return n + int(caught.size()); }, std::negate<int>()};
    functions.emplace_back(std::bind(std::plus<int>(), _1, _1));
    int sum = 0;
    for (int i = 0; i < 30; i++)
        sum += functions[i % 7 % functions.size()](i);
    std::variant<int, std::string> either = "text";
    std::optional<std::string> perhaps = std::get<std::string>(either);
    try {
        sum += std::any_cast<int>(std::any(*perhaps));
    } catch (const std::bad_any_cast &) {
        sum++;
    }
    std::cout << caught["range"] << ' ' << caught["wrong: counted"] << ' ' << sum << ' ' << Counted::alive << '\n';
    return Counted::alive;
}
