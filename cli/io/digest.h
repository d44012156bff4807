/* SHA-256 of files, for evidence; MD5 of sources, as compilers write it into debug information. */
#ifndef CLI_IO_DIGEST_H
#define CLI_IO_DIGEST_H

#include <ntrace/bytes.h>
#include <stdbool.h>
#include <stdint.h>

#define CLI_DIGEST_TEXT 65
#define CLI_MD5_SIZE    16

/* Stores the SHA-256 of a file as hexadecimal text. Returns false when the file cannot be read, or when this build has
 * no digests. */
bool cli_digest_file(const char *path, char text[CLI_DIGEST_TEXT]);

/* Stores the MD5 of a text. Returns false when this build has no digests. */
bool cli_digest_md5(ntr_bytes text, uint8_t digest[CLI_MD5_SIZE]);

#endif
