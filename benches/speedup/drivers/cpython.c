/* Runs a script with CPython. The hashes of strings are the same in each run, and no run leaves compiled modules to the next one. */
#include <Python.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    setenv("PYTHONHASHSEED", "0", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    setenv("PYTHONHOME", HOME, 1);
    return Py_BytesMain(argc, argv);
}
