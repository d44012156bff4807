#include "capture/page_index.h"
#include "base/allocator.h"
#include "base/compare.h"
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

/* The program header number `i`, of either class. */
static bool take_header(ntr_bytes file, size_t i, Elf64_Phdr *header) {
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;
    const bool is_64 = file.data[EI_CLASS] == ELFCLASS64;
    if (file.size < (is_64 ? sizeof wide : sizeof narrow)) return false;
    memcpy(&wide, file.data, is_64 ? sizeof wide : sizeof narrow);
    memcpy(&narrow, file.data, sizeof narrow);
    const uint64_t offset = is_64 ? wide.e_phoff : narrow.e_phoff;
    const size_t count = is_64 ? wide.e_phnum : narrow.e_phnum, size = is_64 ? sizeof *header : sizeof(Elf32_Phdr);
    if ((is_64 ? wide.e_machine : narrow.e_machine) != EM_RISCV || file.data[EI_DATA] != ELFDATA2LSB) return false;
    if (i >= count || offset > file.size || (i + 1) * size > file.size - offset) return false;
    if (is_64) {
        memcpy(header, file.data + offset + i * size, size);
        return true;
    }
    Elf32_Phdr small;
    memcpy(&small, file.data + offset + i * size, size);
    *header = (Elf64_Phdr){.p_type = small.p_type, .p_flags = small.p_flags, .p_offset = small.p_offset,
                           .p_vaddr = small.p_vaddr, .p_filesz = small.p_filesz};
    return true;
}

/* A mapping has whole pages of the file; behind the end of the file, zeros. */
static bool add_pages(ntr_page_index *index, uint32_t file, ntr_bytes bytes, const Elf64_Phdr *header) {
    const uint64_t mask = NTR_PAGE_BYTES - 1;
    if (header->p_offset > bytes.size || header->p_filesz > bytes.size - header->p_offset) return true;
    const uint64_t end = header->p_offset + header->p_filesz;
    for (uint64_t at = header->p_offset & ~mask; at < end; at += NTR_PAGE_BYTES) {
        uint8_t page[NTR_PAGE_BYTES] = {0};
        const size_t size = bytes.size - at < NTR_PAGE_BYTES ? (size_t)(bytes.size - at) : NTR_PAGE_BYTES;
        memcpy(page, bytes.data + at, size);
        if (ntr_reserve(index->allocator, (void **)&index->pages, &index->capacity, index->count + 1, sizeof *index->pages))
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
    for (size_t i = 0; good && take_header(bytes, i, &header); i++)
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
        (*list)[(*count)++] = (ntr_page_match){.context = seen->context, .bias = seen->address - index->pages[i].address,
                                               .file = index->pages[i].file, .pages = end - first == 1 ? 2 : 1};
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

ntr_status ntr_page_index_match(ntr_page_index *index, const ntr_page_seen *seen, size_t count, ntr_page_match **matches,
                                size_t *match_count) {
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
