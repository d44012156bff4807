/* What an answer rests on: messages and bytes that were used, gaps, time in them, instructions with names, images with
 * their build ids and fit.
 *
 * Usage: fill a zeroed struct by the calls below, each of them optional; what was not filled is "not known" (null). */
#ifndef CLI_TEXT_QUALITY_H
#define CLI_TEXT_QUALITY_H

#include "io/fit.h"
#include "io/trace.h"
#include "text/rows.h"

#include <ntrace/event.h>
#include <ntrace/export.h>
#include <ntrace/program.h>
#include <ntrace/reader.h>

/* Bytes and messages of the stream that a gap covers. */
struct cli_lost_part {
    uint64_t from, until, message, until_message;
};

struct cli_quality_image {
    char *name, *build_id; /* `build_id` may be NULL */
    bool unreadable_id;    /* there may be a build id, which cannot be read */
    bool judged;           /* `agreeing` and `contradicting` are known */
    uint64_t agreeing, contradicting;
};

struct cli_quality {
    const ntr_program *program;
    uint64_t gaps, ticks; /* `ticks`: in gaps whose both ends have a time, of all sources together */
    uint64_t untimed;     /* gaps without a time at an end */
    uint64_t unplaced;    /* gaps of which nothing is known but that they exist */
    bool unfollowed;      /* the execution was not followed: whether there are gaps is not known */
    bool executed;        /* `instructions` and `named` are known */
    uint64_t instructions, named; /* `named`: in code that a symbol names */
    bool read; /* `messages` and `bytes` are known */
    uint64_t messages, bytes;
    uint64_t lost_messages, lost_bytes; /* of quality that was added */
    struct cli_lost_part *parts;        /* of the stream that gaps cover */
    size_t count, capacity;
    struct cli_quality_image *images;
    size_t image_count;
    char **losses; /* of the capture */
    size_t loss_count;
    const struct cli_trace *trace; /* whose bytes are counted */
    ntr_reader reader;
    bool reading, mid_stream;
    bool failed; /* out of memory */
};

/* Takes an event, which happened `times` times: a callback of the counting decode (ntr_count_callback). */
ntr_status cli_quality_take(void *quality, const ntr_event *event, uint64_t times);

/* Takes a gap. */
void cli_quality_gap(struct cli_quality *quality, const ntr_event *gap);

/* Counts the messages and bytes of the trace, by its `tap`. Call it before the first byte is fed. */
void cli_quality_count(struct cli_quality *quality, struct cli_trace *trace);

/* Takes instructions from the call tree, else from the tally, if there is one of them. */
void cli_quality_execution(struct cli_quality *quality, const ntr_analysis *data);

/* Takes the images of the program with their fit, and the losses of the capture. */
void cli_quality_images(struct cli_quality *quality, const struct cli_trace *trace);

/* Adds the quality of a further trace to that of those before; `first`: there is none before. */
void cli_quality_add(struct cli_quality *to, struct cli_quality *from, bool first);

/* Returns it as a JSON object, which the caller frees; NULL when out of memory. */
char *cli_quality_json(struct cli_quality *quality);

/* Ends a document of --format json (io/document.h) with it. */
void cli_quality_document(struct cli_quality *quality, struct cli_output *out);

/* Writes rows "quality", and "fit" if the fit was judged. */
void cli_quality_write(struct cli_quality *quality, const struct cli_fit *fit, const char *file, struct cli_rows *rows);

/* Returns whether a name consists of the image and an address, "libc.so.6+0x27f10": no symbol names the code. */
bool cli_is_named_by_image(const char *name, const char *image);

void cli_quality_release(struct cli_quality *quality);

#endif
