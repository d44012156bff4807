/* A trace as the input of a command that walks it: gdb, view, explore. */
#ifndef CLI_IO_REPLAY_INPUT_H
#define CLI_IO_REPLAY_INPUT_H

#include "io/images.h"
#include "io/trace.h"
#include "options/stream_options.h"

#include <ntrace/replay.h>

struct cli_replay_options {
    struct cli_stream stream;
    struct cli_images images;
    const char *debug_path;
};

extern const struct cli_option cli_replay_options[]; /* of debug_path */

/* Must not be moved in memory while it is open. */
struct cli_replay {
    const struct cli_replay_options *options;
    struct cli_trace trace;
    const char *stream_path;
    int stream_file; /* the stream, opened for reading at any place; -1: not open */
    ntr_debug_info *debug;
    ntr_functions *functions;
    ntr_replay *replay;
    /* Called while the trace is read; returns false to interrupt. May be NULL. Set it before the first request. */
    bool (*proceed)(void *user, uint64_t done);
    void *proceed_user;
};

/* Opens the trace at `path`; "-" is standard input. It is read several times: a stream that is not in a file of its own
 * is copied to a temporary file. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_replay_open(struct cli_replay *replay, const char *path, const struct cli_replay_options *options);
/* The same without `replay`, for commands whose library functions make it themselves. */
int cli_replay_open_input(struct cli_replay *replay, const char *path, const struct cli_replay_options *options);
/* Makes a new reader at the beginning of the stream. Errors: as ntr_stream_reader_new. */
ntr_status cli_replay_stream(const struct cli_replay *replay, ntr_stream_reader **out);
/* Returns whether the timestamps of all harts are from one clock: not if each hart counts its own instructions. */
bool cli_replay_has_common_clock(const struct cli_replay *replay);
/* Returns the length of the stream in bytes; 0: not known, as it is compressed. */
uint64_t cli_replay_bytes(const struct cli_replay *replay);
void cli_replay_close(struct cli_replay *replay);

/* Reports what has damaged the result so far: a stream that ended early. Returns CLI_OK or CLI_DEFECTS. */
int cli_replay_status(const struct cli_replay *replay);

#endif
