/* The index of a trace: places where decoding can begin (ntrace/index.h). */
#ifndef CLI_IO_TRACE_INDEX_H
#define CLI_IO_TRACE_INDEX_H

#include "io/trace.h"
#include "options/selection.h"

#include <ntrace/index.h>

/* Returns the index of the stream: from the file of --index, from the bundle, or made from the messages. `for_parts`:
 * that of a small stream has so many points that it can be cut into parts. Returns NULL when the messages cannot be
 * read or the user ended the command; with --index, the error was reported. The caller frees it with ntr_index_free. */
ntr_index *cli_trace_index(struct cli_trace *trace, bool for_parts);

/* Where reading begins: an offset of the stream, and the number of the message there. */
struct cli_begin {
    uint64_t offset, message;
};

/* Lets the decoder and the input, which may have been read, begin at the last points before `place` (ntr_bundle_begin),
 * or at the beginning. Sets *begin. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_trace_begin(struct cli_trace *trace, ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                    ntr_decoder *decoder, struct cli_begin *begin);

/* Lets a new decoder, and the input, begin at the last index point before the window. The output inside the window is
 * the same as without seeking. Without a bundle or --index, decoding begins at the start of the stream. Sets *begin.
 * Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder, struct cli_begin *begin);

#endif
