/* perf.data as a trace: its stream in a temporary file, and its images. */
#ifndef CLI_IO_PERF_H
#define CLI_IO_PERF_H

#include "io/images.h"
#include "options/stream_options.h"

#include <ntrace/perf_data.h>

/* Returns whether the file or folder is perf.data. Pipes are not read. */
bool cli_perf_seen(const char *path);

/* Opens perf.data. Options override what the file says of the stream; what neither says is inferred if `stream` asks
 * for it. *params are those of the stream that is written to the file *fd, at whose beginning it is then. Returns NULL
 * after reporting the error. */
ntr_perf_data *cli_perf_open(const char *path, const struct cli_images *images, const struct cli_stream *stream,
                             ntr_params *params, int *fd);

/* Adds the images of all processes to `program` and reports what is missing. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_perf_load(ntr_perf_data *data, const char *path, const struct cli_images *images, ntr_program *program);

/* Links the modules of the kernel for where they were loaded, after all other images: their calls lead to names of the
 * kernel. A file that is not that of the module is reported and left out. Then adds BPF programs. Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int cli_perf_load_modules(ntr_perf_data *data, const char *path, ntr_program *program);

#endif
