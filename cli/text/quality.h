/* What an answer rests on: the part of the stream in gaps, the instructions with names, the fit of each image. */
#ifndef CLI_TEXT_QUALITY_H
#define CLI_TEXT_QUALITY_H

#include "io/fit.h"
#include "text/rows.h"

#include <ntrace/event.h>
#include <ntrace/program.h>

struct cli_lost_part;

struct cli_quality {
    const ntr_program *program;
    uint64_t gaps, ticks; /* `ticks`: in gaps whose both ends have a time, of all sources together */
    uint64_t instructions, named; /* `named`: in code that a symbol names */
    struct cli_lost_part *parts; /* of the stream that gaps cover */
    size_t count, capacity;
    bool failed; /* out of memory */
};

/* Takes an event, which happened `times` times: a callback of the counting decode (ntr_count_callback). */
ntr_status cli_quality_take(void *quality, const ntr_event *event, uint64_t times);

/* Writes rows "quality", and "fit" if the fit was judged. */
void cli_quality_write(struct cli_quality *quality, const struct cli_fit *fit, const char *file, struct cli_rows *rows);

void cli_quality_release(struct cli_quality *quality);

#endif
