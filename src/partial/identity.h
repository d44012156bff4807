/* What identifies an image: the GNU build id of its file; without one, a digest of the file; for an image without a
 * file, a digest of its bytes and its address. Private. */
#ifndef NTR_PARTIAL_IDENTITY_H
#define NTR_PARTIAL_IDENTITY_H

#include <ntrace/program.h>

/* Stores a new text in *identity, to be freed with ntr_dealloc. NULL: the image has only names. Errors: NTR_E_MEMORY,
 * NTR_E_IO, NTR_E_RANGE (there is no such image). */
ntr_status ntr_image_identity(const ntr_program *program, size_t index, const ntr_allocator *allocator,
                              char **identity);

#endif
