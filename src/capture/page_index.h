/* Which file a page of code comes from: an index of the executable pages of ELF files, by their hash.
 *
 * Code has no relocations, so the page in memory is that of the file. A page gives the file and its load address; two
 * pages of a file must agree, unless the content of a single one occurs in one place of all files only. */
#ifndef NTR_CAPTURE_PAGE_INDEX_H
#define NTR_CAPTURE_PAGE_INDEX_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>
#include <stdbool.h>

typedef struct ntr_page_index ntr_page_index;

ntr_page_index *ntr_page_index_new(const ntr_allocator *allocator);
void ntr_page_index_free(ntr_page_index *index);

/* Adds the pages of file number `file`. A file that is no RISC-V ELF file has none. Returns false when out of memory.
 */
bool ntr_page_index_add(ntr_page_index *index, uint32_t file, ntr_bytes bytes);

/* A page that was executed. */
typedef struct ntr_page_seen {
    uint64_t context, address, hash;
} ntr_page_seen;

/* A file in memory. */
typedef struct ntr_page_match {
    uint64_t context;
    uint64_t bias;  /* added to the addresses of the file */
    uint32_t file;
    uint32_t pages; /* that agree */
} ntr_page_match;

/* Finds the files of the pages. Stores an array sorted by (file, bias, context), which the caller frees with the
 * allocator, and its length. Errors: NTR_E_MEMORY. */
ntr_status ntr_page_index_match(ntr_page_index *index, const ntr_page_seen *seen, size_t count,
                                ntr_page_match **matches, size_t *match_count);

#endif
