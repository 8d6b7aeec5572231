/* The program that wasm3.c interprets: sorting, primes, matrices, a hash table and recursion. It is not compiled
   by the benchmark, because not every machine can compile for WebAssembly. This made the file beside it:

   clang --target=wasm32 -mcpu=mvp -O2 -nostdlib -fno-builtin -Wl,--no-entry,--strip-all,--allow-undefined \
       -Wl,--export=run -o wasm3_program.wasm wasm3_program.c */

/* A function of wasm3.c. */
void print(unsigned number);

static unsigned state;
static unsigned numbers[2000];
static unsigned char composite[20000];
static double matrices[3][24][24];
static unsigned keys[4096], values[4096];

static unsigned next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void sort(unsigned *from, int length)
{
    while (length > 1) {
        unsigned pivot = from[length / 2];
        int low = 0, high = length - 1;
        while (low <= high) {
            while (from[low] < pivot)
                low++;
            while (from[high] > pivot)
                high--;
            if (low <= high) {
                unsigned other = from[low];
                from[low++] = from[high];
                from[high--] = other;
            }
        }
        sort(from, high + 1);
        from += low;
        length -= low;
    }
}

static int primes(int limit)
{
    int count = 0;
    for (int i = 2; i < limit; i++)
        composite[i] = 0;
    for (int i = 2; i < limit; i++)
        if (!composite[i]) {
            count++;
            for (int k = i * 2; k < limit; k += i)
                composite[k] = 1;
        }
    return count;
}

static unsigned multiply(void)
{
    double trace = 0;
    for (int i = 0; i < 24 * 24; i++) {
        matrices[0][i / 24][i % 24] = next() % 100;
        matrices[1][i / 24][i % 24] = next() % 100;
    }
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < 24; k++) {
            double sum = 0;
            for (int at = 0; at < 24; at++)
                sum += matrices[0][i][at] * matrices[1][at][k];
            matrices[2][i][k] = sum;
        }
    for (int i = 0; i < 24; i++)
        trace += matrices[2][i][i];
    return (unsigned)trace;
}

static unsigned count(void)
{
    unsigned most = 0;
    for (int i = 0; i < 4096; i++)
        keys[i] = values[i] = 0;
    for (int i = 0; i < 5000; i++) {
        unsigned key = 1 + next() % 3000, slot = key * 2654435761u >> 20;
        while (keys[slot] && keys[slot] != key)
            slot = (slot + 1) % 4096;
        keys[slot] = key;
        if (++values[slot] > most)
            most = values[slot];
    }
    return most;
}

static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

void run(int size, unsigned seed)
{
    unsigned result = 1;
    state = seed;
    for (int round = 0; round < size; round++) {
        for (int i = 0; i < 2000; i++)
            numbers[i] = next();
        sort(numbers, 2000);
        for (int i = 0; i < 2000; i += 100)
            result = result * 31 + numbers[i];
        result = result * 31 + primes(10000 + next() % 10000);
        result = result * 31 + multiply();
        result = result * 31 + count();
        result = result * 31 + ackermann(2, 20 + next() % 20);
    }
    print(result);
}
