#include "library.h"

#include <cstdlib>
#include <stdexcept>

static Visitor *current;

static int order(const void *a, const void *b)
{
    int left = *static_cast<const int *>(a);
    int right = *static_cast<const int *>(b);
    return current->compare(left, right);
}

Visitor::~Visitor()
{
}

int Visitor::compare(int a, int b)
{
    calls++;
    return a - b;
}

void sort_with(Visitor &visitor, int *data, size_t count)
{
    current = &visitor;
    qsort(data, count, sizeof *data, order);
    current = nullptr;
}

int guarded(Visitor &visitor, int *data, size_t count)
{
    try {
        sort_with(visitor, data, count);
    } catch (const std::out_of_range &) {
        visitor.calls += 1000;
        throw std::runtime_error("translated");
    }
    return visitor.calls;
}
