/* What everything.c wants of a C library. Not instrumented. */
#include <stddef.h>

void *memset(void *to, int byte, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((volatile char *)to)[i] = (char)byte;
    return to;
}

void *memcpy(void *to, const void *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memmove(void *to, const void *from, size_t length)
{
    if ((char *)to <= (const char *)from)
        return memcpy(to, from, length);
    while (length-- > 0)
        ((volatile char *)to)[length] = ((const char *)from)[length];
    return to;
}

int abs(int x)
{
    return x < 0 ? -x : x;
}

int atoi(const char *text)
{
    int number = 0;
    while (*text)
        number = 10 * number + *text++ - '0';
    return number;
}

int printf(const char *format, ...)
{
    (void)format;
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (((const volatile char *)text)[length])
        length++;
    return length;
}

#ifdef __ARM_EABI__
/* clang calls these, by what it knows of the alignment. */
#define ALIASES(name)                                              \
    __typeof__(__aeabi_##name) __aeabi_##name##4                   \
        __attribute__((alias("__aeabi_" #name)));                  \
    __typeof__(__aeabi_##name) __aeabi_##name##8                   \
        __attribute__((alias("__aeabi_" #name)))

void __aeabi_memcpy(void *to, const void *from, size_t length)
{
    memcpy(to, from, length);
}

void __aeabi_memmove(void *to, const void *from, size_t length)
{
    memmove(to, from, length);
}

/* As memset, with the arguments in another order. */
void __aeabi_memset(void *to, size_t length, int byte)
{
    memset(to, byte, length);
}

void __aeabi_memclr(void *to, size_t length)
{
    memset(to, 0, length);
}

ALIASES(memcpy);
ALIASES(memmove);
ALIASES(memset);
ALIASES(memclr);
#endif
