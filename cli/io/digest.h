/* SHA-256 of files, for evidence. */
#ifndef CLI_IO_DIGEST_H
#define CLI_IO_DIGEST_H

#include <stdbool.h>

#define CLI_DIGEST_TEXT 65

/* Stores the SHA-256 of a file as hexadecimal text. Returns false when the file cannot be read, or when this build has
 * no digests. */
bool cli_digest_file(const char *path, char text[CLI_DIGEST_TEXT]);

#endif
