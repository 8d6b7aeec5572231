// A program with two libraries of its own. An argument that is even opens the second one first.
#include "standard_plugins.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <memory>

Plugin *make_sorter();

int main(int argc, char **argv)
{
    bool opens_first = argc > 1 && atoi(argv[1]) % 2 == 0;
    std::vector<std::unique_ptr<Plugin>> plugins;
    if (!opens_first)
        plugins.emplace_back(make_sorter());
    void *library = dlopen("./libstandard_counter.so", RTLD_NOW | (opens_first ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!library)
        return std::cerr << dlerror() << '\n', 1;
    plugins.emplace_back(reinterpret_cast<Make *>(dlsym(library, "make"))());
    if (opens_first)
        plugins.insert(plugins.begin(), std::unique_ptr<Plugin>(make_sorter()));
    std::vector<std::string> words{"pear", "fig", "banana", "fig", "kiwi", "fig"};
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        std::rotate(words.begin(), words.begin() + 1, words.end());
        for (auto &plugin : plugins)
            sum += plugin->run(words) * int(plugin->name().size());
    }
    std::sort(words.begin(), words.end(), by_size);
    std::cout << words.front() << ' ' << sum << ' ' << Plugin::made() << '\n';
    plugins.clear();
    return dlclose(library);
}
