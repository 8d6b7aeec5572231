// An inline function and a template that two sources share.
#pragma once

inline bool shared(int a, int b) { return a > 0 && (b > 0 || a > 5); }

template <class T> struct Range {
    T low, high;
    bool has(T value) const { return value >= low && value <= high; }
    Range(T low, T high) : low(low), high(low < high && high != T() ? high : low) {}
    ~Range() { if (low == high && low) low = T(); }
};

int second(int n);
