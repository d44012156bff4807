#include "capture/sink_memory.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 1 << 16 };

struct run_memory_page {
    uint64_t number; /* address / PAGE */
    uint8_t bytes[PAGE];
};

void run_memory_release(struct run_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) free(memory->pages[i]);
    free(memory->pages);
}

/* Place of the page, or where it belongs. */
static size_t find(const struct run_memory *memory, uint64_t number) {
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->pages[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct run_memory_page *page_at(const struct run_memory *memory, size_t place, uint64_t number) {
    return place < memory->count && memory->pages[place]->number == number ? memory->pages[place] : NULL;
}

static struct run_memory_page *add_page(struct run_memory *memory, size_t place, uint64_t number) {
    if (memory->count == memory->capacity) {
        size_t larger = memory->capacity ? 2 * memory->capacity : 16;
        struct run_memory_page **moved = realloc(memory->pages, larger * sizeof(*moved));
        if (!moved) return NULL;
        memory->pages = moved;
        memory->capacity = larger;
    }
    struct run_memory_page *page = calloc(1, sizeof *page);
    if (!page) return NULL;
    page->number = number;
    memmove(memory->pages + place + 1, memory->pages + place, (memory->count - place) * sizeof(*memory->pages));
    memory->pages[place] = page;
    memory->count++;
    return page;
}

/* Bytes from `address` up to the end of its page, `size` at most. */
static size_t in_page(uint64_t address, size_t size) {
    size_t room = PAGE - (size_t)(address % PAGE);
    return size < room ? size : room;
}

bool run_memory_write(struct run_memory *memory, uint64_t address, const uint8_t *bytes, size_t size) {
    for (size_t n; size; address += n, bytes += n, size -= n) {
        uint64_t number = address / PAGE;
        size_t place = find(memory, number);
        struct run_memory_page *page = page_at(memory, place, number);
        if (!page) page = add_page(memory, place, number);
        if (!page) return false;
        n = in_page(address, size);
        memcpy(page->bytes + address % PAGE, bytes, n);
    }
    return true;
}

void run_memory_read(const struct run_memory *memory, uint64_t address, uint8_t *out, size_t size) {
    for (size_t n; size; address += n, out += n, size -= n) {
        uint64_t number = address / PAGE;
        const struct run_memory_page *page = page_at(memory, find(memory, number), number);
        n = in_page(address, size);
        if (page)
            memcpy(out, page->bytes + address % PAGE, n);
        else
            memset(out, 0, n);
    }
}
