/* Whether the files of -e are those that ran, as a bundle says: by build id, otherwise by their bytes. */
#ifndef CLI_IO_IDENTITY_H
#define CLI_IO_IDENTITY_H

#include <ntrace/bundle.h>
#include <ntrace/program.h>

#include <stdbool.h>
#include <stddef.h>

enum cli_identity {
    CLI_IDENTITY_UNKNOWN, /* no file of the bundle is at these addresses */
    CLI_IDENTITY_SAME,
    CLI_IDENTITY_BUILD_ID, /* the build ids differ */
    CLI_IDENTITY_CONTENT,  /* one has no build id, and the bytes differ */
};

enum { CLI_BUILD_ID_SIZE = 160 }; /* bytes of the text, with the terminating 0 */

/* Writes the build id of a file, "" if it has none. Returns false when it cannot be read, which is said once: the exit
 * status is CLI_DEFECTS. */
bool cli_build_id(const char *path, char id[CLI_BUILD_ID_SIZE]);

/* Compares image number `index` of the program, an ELF file, with those of the bundle at the same addresses. *truth is
 * set to the file of the bundle that it differs from. */
enum cli_identity cli_identity_of(const ntr_program *program, size_t index, const ntr_bundle *bundle,
                                  const ntr_bundle_image **truth);

/* Returns the bundle of which `stream` is the stream, or NULL. The caller frees it. */
ntr_bundle *cli_identity_bundle(const char *stream);

#endif
