#include "capture/sink_memory.h"
#include "base/allocator.h"

#include <string.h>

enum { PAGE = 1 << 16 };

struct ntr_capture_page {
    uint64_t number; /* address / PAGE */
    uint8_t bytes[PAGE];
};

void ntr_capture_memory_release(struct ntr_capture_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) ntr_dealloc(memory->allocator, memory->pages[i]);
    ntr_dealloc(memory->allocator, memory->pages);
}

/* Position of the page in `pages`, or the position where it is to be inserted. */
static size_t find(const struct ntr_capture_memory *memory, uint64_t number) {
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

static struct ntr_capture_page *page_at(const struct ntr_capture_memory *memory, size_t place, uint64_t number) {
    return place < memory->count && memory->pages[place]->number == number ? memory->pages[place] : NULL;
}

static struct ntr_capture_page *add_page(struct ntr_capture_memory *memory, size_t place, uint64_t number) {
    if (ntr_reserve(memory->allocator, (void **)&memory->pages, &memory->capacity, memory->count + 1,
                    sizeof(*memory->pages)))
        return NULL;
    struct ntr_capture_page *page = ntr_alloc(memory->allocator, 1, sizeof *page);
    if (!page) return NULL;
    page->number = number;
    memmove(memory->pages + place + 1, memory->pages + place, (memory->count - place) * sizeof(*memory->pages));
    memory->pages[place] = page;
    memory->count++;
    return page;
}

/* Number of bytes from `address` to the end of its page, at most `size`. */
static size_t in_page(uint64_t address, size_t size) {
    size_t room = PAGE - (size_t)(address % PAGE);
    return size < room ? size : room;
}

bool ntr_capture_memory_write(struct ntr_capture_memory *memory, uint64_t address, const uint8_t *bytes, size_t size) {
    for (size_t n; size; address += n, bytes += n, size -= n) {
        uint64_t number = address / PAGE;
        size_t place = find(memory, number);
        struct ntr_capture_page *page = page_at(memory, place, number);
        if (!page) page = add_page(memory, place, number);
        if (!page) return false;
        n = in_page(address, size);
        memcpy(page->bytes + address % PAGE, bytes, n);
    }
    return true;
}

void ntr_capture_memory_read(const struct ntr_capture_memory *memory, uint64_t address, uint8_t *out, size_t size) {
    for (size_t n; size; address += n, out += n, size -= n) {
        uint64_t number = address / PAGE;
        const struct ntr_capture_page *page = page_at(memory, find(memory, number), number);
        n = in_page(address, size);
        if (page)
            memcpy(out, page->bytes + address % PAGE, n);
        else
            memset(out, 0, n);
    }
}
