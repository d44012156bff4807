/* A visitor whose functions are called through a shared library and the C library's qsort. */
#pragma once
#include <cstddef>

struct Visitor {
    int calls = 0;
    virtual ~Visitor();
    virtual int compare(int a, int b);
};

void sort_with(Visitor &visitor, int *data, size_t count);
int guarded(Visitor &visitor, int *data, size_t count);
