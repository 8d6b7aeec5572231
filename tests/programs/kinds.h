struct Animal {
    virtual ~Animal() {}
    virtual int sound(int x) const { return x; }
};

template <class T> T sum_of(const T *values, int number)
{
    T sum = 0;
    for (int i = 0; i < number; i++)
        sum += values[i] > 3 ? values[i] : 1;
    return sum;
}

inline int shared(int x) { return x % 3 ? x : 2 * x; }

Animal *make_dog();
int count_second(int (*callback)(int), int rounds);
