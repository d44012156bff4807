/* Streaming decompression with bounded memory; without libzstd, a clear refusal. */
#ifndef CLI_IO_INPUT_ZSTD_H
#define CLI_IO_INPUT_ZSTD_H

#include <ntrace/bytes.h>
#include <stdbool.h>

#define CLI_ZSTD_MAGIC_SIZE 4

struct cli_zstd;

/* Whether these first bytes of a file are a zstd frame. */
bool cli_zstd_seen(const uint8_t *data, size_t size);

/* Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_zstd_open(struct cli_zstd **zstd, const char *name);

/* Give compressed bytes; those before must have been used up (an empty span from next). */
void cli_zstd_give(struct cli_zstd *zstd, const uint8_t *data, size_t size);

/* Next decompressed span; empty: more compressed bytes are needed. CLI_DEFECTS after telling of damage; the span
 * then holds what came before it. CLI_FAILED: out of memory, told. */
int cli_zstd_next(struct cli_zstd *zstd, ntr_bytes *span);

/* At the end of the file, `size` bytes long: CLI_FAILED after telling when a frame is not complete. */
int cli_zstd_finish(const struct cli_zstd *zstd, uint64_t size);

/* NULL is allowed. */
void cli_zstd_close(struct cli_zstd *zstd);

#endif
