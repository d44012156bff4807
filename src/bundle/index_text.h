/* The file `index` of a bundle as text (docs/bundle.md, "index"): written from an index, read back into one. */
#ifndef NTR_BUNDLE_INDEX_TEXT_H
#define NTR_BUNDLE_INDEX_TEXT_H

#include <ntrace/bytes.h>
#include <ntrace/index.h>

/* Write the index of a stream of `size` bytes (of the file, compressed or not) as text, to be freed with ntr_dealloc.
 * Errors: NTR_E_MEMORY. */
ntr_status ntr_index_text_write(const ntr_index *index, uint64_t size, const ntr_allocator *allocator, char **text,
                                size_t *length);

/* Add the points of a text to an empty index. Errors: NTR_E_FORMAT (not the text of an index, or of a stream of another
 * size), and those of ntr_index_add; the index then holds a part of the points. */
ntr_status ntr_index_text_read(ntr_bytes text, uint64_t size, ntr_index *index);

#endif
