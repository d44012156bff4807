/* The file `index` of a bundle: where decoding can begin (docs/bundle.md). It is made when it is first needed. */
#ifndef CLI_IO_INDEX_FILE_H
#define CLI_IO_INDEX_FILE_H

#include <ntrace/index.h>

/* What the index is of: `stream`, read with `params`; it lies in `folder`. */
struct cli_indexed {
    const char *folder, *stream;
    const ntr_params *params;
};

/* From the file, or where that is missing, damaged or older than the bundle, from the stream; then the file is written
 * if it can be. NULL: neither works (a stream that cannot be read tells why later, when it is decoded). */
ntr_index *cli_index_open(const struct cli_indexed *indexed);

#endif
