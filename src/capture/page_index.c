#include "capture/page_index.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "capture/elf.h"
#include "channel/page_hash.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* A page of a file: its hash, and its address as the program headers say. */
struct indexed_page {
    uint64_t hash, address;
    uint32_t file;
};

struct ntr_page_index {
    const ntr_allocator *allocator;
    struct indexed_page *pages; /* sorted by hash, then file and address */
    size_t count, capacity;
    bool sorted;
};

ntr_page_index *ntr_page_index_new(const ntr_allocator *allocator) {
    ntr_page_index *index = ntr_alloc(allocator, 1, sizeof *index);
    if (index) index->allocator = allocator;
    return index;
}

void ntr_page_index_free(ntr_page_index *index) {
    if (!index) return;
    ntr_dealloc(index->allocator, index->pages);
    ntr_dealloc(index->allocator, index);
}

/* ---- files */

/* A mapping has whole pages of the file; behind the end of the file, zeros. */
static bool add_pages(ntr_page_index *index, uint32_t file, ntr_bytes bytes, const Elf64_Phdr *header) {
    const uint64_t mask = NTR_PAGE_BYTES - 1;
    if (header->p_offset > bytes.size || header->p_filesz > bytes.size - header->p_offset) return true;
    const uint64_t end = header->p_offset + header->p_filesz;
    for (uint64_t at = header->p_offset & ~mask; at < end; at += NTR_PAGE_BYTES) {
        uint8_t page[NTR_PAGE_BYTES] = {0};
        const size_t size = bytes.size - at < NTR_PAGE_BYTES ? (size_t)(bytes.size - at) : NTR_PAGE_BYTES;
        memcpy(page, bytes.data + at, size);
        if (ntr_reserve(index->allocator, (void **)&index->pages, &index->capacity, index->count + 1,
                        sizeof *index->pages))
            return false;
        index->pages[index->count++] =
            (struct indexed_page){ntr_page_hash(page), header->p_vaddr - header->p_offset + at, file};
    }
    return true;
}

bool ntr_page_index_add(ntr_page_index *index, uint32_t file, ntr_bytes bytes) {
    Elf64_Phdr header;
    bool good = true;
    if (bytes.size <= EI_NIDENT || memcmp(bytes.data, ELFMAG, SELFMAG) != 0) return true;
    for (size_t i = 0; good && ntr_capture_elf_header(bytes, i, &header); i++)
        if (header.p_type == PT_LOAD && header.p_flags & PF_X) good = add_pages(index, file, bytes, &header);
    index->sorted = false;
    return good;
}

/* ---- matching */

static int by_hash(const void *left, const void *right) {
    const struct indexed_page *x = left, *y = right;
    NTR_COMPARE_BY(hash);
    NTR_COMPARE_BY(file);
    return NTR_COMPARE(x->address, y->address);
}

static size_t first_of(const ntr_page_index *index, uint64_t hash) {
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->pages[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_place(const void *left, const void *right) {
    const ntr_page_match *x = left, *y = right;
    NTR_COMPARE_BY(file);
    NTR_COMPARE_BY(bias);
    return NTR_COMPARE(x->context, y->context);
}

/* Candidates: one for each page and each place of its content. `pages` is 2 when there is one place only. */
static ntr_status add_candidates(const ntr_page_index *index, const ntr_page_seen *seen, ntr_page_match **list,
                                 size_t *count, size_t *capacity) {
    enum { PLACES_MAX = 64 }; /* such content says nothing: padding, empty pages */
    const size_t first = first_of(index, seen->hash);
    size_t end = first;
    while (end < index->count && index->pages[end].hash == seen->hash) end++;
    if (end - first > PLACES_MAX) return NTR_OK;
    for (size_t i = first; i < end; i++) {
        if (ntr_reserve(index->allocator, (void **)list, capacity, *count + 1, sizeof **list)) return NTR_E_MEMORY;
        (*list)[(*count)++] = (ntr_page_match){.context = seen->context,
                                               .bias = seen->address - index->pages[i].address,
                                               .file = index->pages[i].file,
                                               .pages = end - first == 1 ? 2 : 1};
    }
    return NTR_OK;
}

/* Adds up the candidates of one place, and drops those that a single page with other places made. */
static size_t merge(ntr_page_match *list, size_t count) {
    size_t merged = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (merged && by_place(&list[merged - 1], &list[i]) == 0)
            list[merged - 1].pages += list[i].pages;
        else
            list[merged++] = list[i];
    }
    for (size_t i = 0; i < merged; i++)
        if (list[i].pages >= 2) list[kept++] = list[i];
    return kept;
}

ntr_status ntr_page_index_match(ntr_page_index *index, const ntr_page_seen *seen, size_t count,
                                ntr_page_match **matches, size_t *match_count) {
    size_t capacity = 0;
    ntr_status status = NTR_OK;
    *matches = NULL;
    *match_count = 0;
    if (!index->sorted && index->count) qsort(index->pages, index->count, sizeof *index->pages, by_hash);
    index->sorted = true;
    for (size_t i = 0; i < count && status == NTR_OK; i++)
        status = add_candidates(index, &seen[i], matches, match_count, &capacity);
    if (*match_count) qsort(*matches, *match_count, sizeof **matches, by_place);
    *match_count = merge(*matches, *match_count);
    return status;
}
