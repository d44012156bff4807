/* Decoding from the middle of the stream of a bundle. */
#ifndef CLI_IO_SEEK_H
#define CLI_IO_SEEK_H

#include "io/trace.h"
#include "options/selection.h"

#include <ntrace/decoder.h>

/* Positions a new decoder, and the input of `trace`, at the last index point before the window. The output inside the
 * window is the same as without seeking. Without a bundle or index, decoding begins at the start of the stream. Returns
 * CLI_OK, or CLI_FAILED after reporting the error. */
int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder);

/* Returns the index of the bundle of `trace`, or NULL. No error is reported: if the stream cannot be read, decoding reports it.
 * The caller frees it with ntr_index_free. */
ntr_index *cli_bundle_index(struct cli_trace *trace);

#endif
