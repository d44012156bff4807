/* The files of a guest: a folder; an archive of cpio in the "newc" form, as an initial file system of Linux is, also
 * compressed, behind a part that is not; an image of ext2, ext3 or ext4, or of a disk with such partitions; or one ELF
 * file. */
#ifndef NTR_CAPTURE_GUEST_FILES_H
#define NTR_CAPTURE_GUEST_FILES_H

#include "capture/error.h"

#include <ntrace/bytes.h>
#include <stdbool.h>

/* `name` is the path in the guest. `path` is that of a file here; NULL: `bytes` are inside the archive, which stays
 * open. Returns false to stop: there is no memory. */
typedef bool (*ntr_guest_file_take)(void *user, const char *name, const char *path, ntr_bytes bytes);

/* Calls `take` for each regular file that begins as an ELF file. *archive is the mapped archive, to be released with
 * ntr_guest_files_release when the bytes are not needed any more. With NTR_OK, `reason` has a text if a part cannot be
 * read: the files behind the damage may be missing. Errors: NTR_E_IO, NTR_E_FORMAT (none of these), and
 * those of guest_unpack.h. */
ntr_status ntr_guest_files_read(const char *path, ntr_guest_file_take take, void *user, ntr_bytes *archive,
                                struct ntr_capture_reason *reason);
/* Is it something that can be read, as far as its first bytes show? Errors: NTR_E_IO, NTR_E_FORMAT. */
ntr_status ntr_guest_files_check(const char *path, struct ntr_capture_reason *reason);
void ntr_guest_files_release(ntr_bytes *archive);

/* Maps a file for reading. The caller releases it with ntr_guest_files_release. Returns false, with errno, when it
 * cannot. */
bool ntr_guest_file_map(const char *path, ntr_bytes *bytes);

#endif
