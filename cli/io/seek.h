/* Decoding from the middle of a bundle's stream. */
#ifndef CLI_IO_SEEK_H
#define CLI_IO_SEEK_H

#include "options/selection.h"
#include "io/trace.h"

#include <ntrace/decoder.h>

/* Have the decoder begin as near before the window as the bundle's index allows, which changes nothing of what is told
 * inside the window; or leave it at the beginning. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder);

#endif
