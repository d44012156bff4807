/* Decoding from the middle of a bundle's stream. */
#ifndef CLI_IO_SEEK_H
#define CLI_IO_SEEK_H

#include "io/trace.h"
#include "options/selection.h"

#include <ntrace/decoder.h>

/* Have a new decoder begin as close before the window as the index of the bundle allows; the output inside the window
 * stays the same. Without a bundle, or where no index can be made, the decoder begins at the start of the stream. Returns
 * CLI_OK, or CLI_FAILED after a message. */
int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder);

#endif
