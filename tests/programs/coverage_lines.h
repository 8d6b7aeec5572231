// Inline functions, one of which nobody calls.
inline int header(int k) {
    if (k > 5) { return 1; }
    return 2;
}
inline int header_unused(int k) { return k ? 3 : 4; }
template <class T> T of_both(T x)
{
    return x > 3 ? x - 1 : x + 1;
}
int second(int k);
