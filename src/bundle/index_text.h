/* An index as text (docs/bundle.md, "index"): written from an index, read back into one. */
#ifndef NTR_BUNDLE_INDEX_TEXT_H
#define NTR_BUNDLE_INDEX_TEXT_H

#include <ntrace/bytes.h>
#include <ntrace/index.h>
#include <ntrace/index_build.h>

/* Which stream an index is of. */
struct ntr_indexed {
    uint64_t size;    /* of its file, compressed or not */
    uint64_t params;  /* a hash of the parameters that change how messages are read, without XLEN */
    uint64_t samples; /* a hash of some of its bytes */
};

/* Write the index as text, to be freed with ntr_dealloc. Errors: NTR_E_MEMORY. */
ntr_status ntr_index_text_write(const ntr_index *index, const struct ntr_indexed *stream,
                                const ntr_allocator *allocator, char **text, size_t *length);

/* Add the points of a text to an empty index. Errors: NTR_E_FORMAT (not the text of an index), NTR_E_INVALID (an index
 * of another stream, or damaged), and those of ntr_index_add; the index then holds a part of the points. */
ntr_status ntr_index_text_read(ntr_bytes text, const struct ntr_indexed *stream, ntr_index *index);

#endif
