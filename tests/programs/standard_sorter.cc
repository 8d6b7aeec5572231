// A library that the program is linked with.
#include "standard_plugins.h"
#include <algorithm>

struct Sorter : Plugin {
    std::string name() const override { return "sorter"; }
    int run(std::vector<std::string> words) override
    {
        std::sort(words.begin(), words.end(), by_size);
        return larger<int>(words.front().size(), words.back().size());
    }
};

Plugin *make_sorter()
{
    Plugin::made()++;
    return new Sorter;
}
