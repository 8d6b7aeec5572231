// Templates of the standard library: maps, sorting, closures, regular expressions, exceptions.
#include <map>
#include <vector>
#include <string>
#include <algorithm>
#include <regex>
#include <iostream>
#include <memory>
#include <functional>
struct Base { virtual ~Base() {} virtual int f(int) const = 0; };
struct A : Base { int f(int x) const override { return x > 3 ? x : -x; } };
struct B : Base { std::string s = "b"; int f(int x) const override { for (char c : s) x += c; return x; } };
template <class F> int apply(F f, int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
int main(int argc, char **argv) {
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < 50; i++) m[std::to_string(i % 7)].push_back(i);
    for (auto &[k, v] : m) { std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; }); }
    std::vector<std::unique_ptr<Base>> all;
    all.push_back(std::make_unique<A>()); all.push_back(std::make_unique<B>());
    int s = 0;
    for (auto &p : all) s += apply([&](int x) { return p->f(x); }, 10) + apply([](int x) { return x; }, 3);
    std::regex r("a+b|c.*d");
    try { if (std::regex_search(std::string("xxaab"), r)) throw std::runtime_error("found"); }
    catch (std::exception &e) { s += e.what()[0]; }
    std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
    std::cout << s + fib(10) << "\n";
}
