// Maps, sets, regular expressions, algorithms.
#include <iostream>
#include <list>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>

template <class Map> static int total(const Map &map)
{
    return std::accumulate(map.begin(), map.end(), 0, [](int sum, const auto &entry) { return sum + entry.second; });
}

int main()
{
    const std::string text = "the quick brown fox jumps over the lazy dog, and the dog sleeps at 10:30 or 22:15";
    const std::regex word("[a-z]+"), time("([0-9]{2}):([0-9]{2})");
    std::map<std::string, int> ordered;
    std::unordered_map<std::string, int> hashed;
    std::set<std::string, std::greater<std::string>> backwards;
    for (std::sregex_iterator next(text.begin(), text.end(), word), end; next != end; ++next) {
        ordered[next->str()]++;
        hashed[next->str()]++;
        backwards.insert(next->str());
    }
    int minutes = 0;
    std::smatch found;
    for (std::string rest = text; std::regex_search(rest, found, time); rest = found.suffix())
        minutes += std::stoi(found[1]) * 60 + std::stoi(found[2]);
    std::list<std::string> list(backwards.begin(), backwards.end());
    list.sort([](const std::string &a, const std::string &b) { return a.size() < b.size(); });
    list.remove_if([](const std::string &a) { return a.size() == 3; });
    std::cout << total(ordered) << ' ' << total(hashed) << ' ' << list.front() << ' ' << minutes << '\n';
    return list.empty();
}
