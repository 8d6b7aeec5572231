// What the program and its two libraries share: inline functions and a class whose copies the dynamic linker
// merges, and an order whose address both take.
#include <map>
#include <string>
#include <vector>

inline bool by_size(const std::string &a, const std::string &b)
{
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

template <class T> T larger(T a, T b) { return b < a ? a : b; }

struct Plugin {
    virtual ~Plugin() = default;
    virtual std::string name() const { return "plugin"; }
    virtual int run(std::vector<std::string> words) = 0;
    static int &made()
    {
        static int number;
        return number;
    }
};

typedef Plugin *Make();
