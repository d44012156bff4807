/* Files of a guest that are inside a file system image: they are unpacked to a file in memory that is an archive of
 * cpio. Without libext2fs (no_ext.c), the function returns NTR_E_UNSUPPORTED. */
#ifndef NTR_CAPTURE_GUEST_UNPACK_H
#define NTR_CAPTURE_GUEST_UNPACK_H

#include "capture/error.h"

#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Input is hostile: a small file may claim to have very much content. */
enum { NTR_GUEST_NAME_MAX = 4096 };
#define NTR_GUEST_UNPACKED_MOST (2ull << 30) /* bytes */

/* Appends the ELF files of an image of ext2, ext3 or ext4, which begins at the byte `begin` of the file at `path`, to
 * `file`, as an archive. *left: how many bytes may still be appended. With NTR_OK, `reason` has a text if a part of the
 * image cannot be read. Errors: NTR_E_FORMAT, NTR_E_LIMIT, NTR_E_IO,
 * NTR_E_MEMORY, NTR_E_UNSUPPORTED. */
ntr_status ntr_guest_read_ext(const char *path, uint64_t begin, int file, uint64_t *left,
                              struct ntr_capture_reason *reason);

#endif
