/* zstd on the way out. */
#ifndef CLI_IO_COMPRESSOR_H
#define CLI_IO_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_compressor;

/* Takes compressed bytes. */
typedef void (*cli_compressed)(void *user, const uint8_t *bytes, size_t size);

/* Returns CLI_OK, or CLI_FAILED after telling why: no memory, or built without zstd. */
int cli_compressor_open(struct cli_compressor **compressor, cli_compressed sink, void *user);

/* `last`: nothing follows; everything that is held back goes to the sink. Returns false when out of memory. */
bool cli_compressor_put(struct cli_compressor *compressor, const uint8_t *bytes, size_t size, bool last);

void cli_compressor_close(struct cli_compressor *compressor); /* NULL is allowed */

#endif
