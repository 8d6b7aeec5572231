// Uses inline functions and a template that another file has, too.
#include "coverage_lines.h"
int second(int k) { return header(k) + header_unused(k) + of_both(k) + (int)of_both(2.5); }
