// Another program with the same libraries: it exports nothing that they have, too.
#include <dlfcn.h>
#include <iostream>
#include <string>
#include <vector>

struct Plugin;
Plugin *make_sorter();

int main()
{
    void *library = dlopen("./libstandard_counter.so", RTLD_NOW);
    if (!library)
        return std::cerr << dlerror() << '\n', 1;
    bool made = dlsym(library, "make") && make_sorter();
    std::cout << std::vector<std::string>{"made", "nothing"}[!made] << '\n';
    return dlclose(library);
}
