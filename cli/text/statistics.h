/* Statistics of the messages of a stream. */
#ifndef CLI_TEXT_STATISTICS_H
#define CLI_TEXT_STATISTICS_H

#include "text/rows.h"

#include <ntrace/decoder.h>
#include <ntrace/message.h>

#define CLI_TCODES  65 /* 0 to 63, and one for bytes that are not a message */
#define CLI_SOURCES 4096

struct cli_tally {
    uint64_t messages, bytes, syncs;
};

struct cli_statistics {
    struct cli_tally tcodes[CLI_TCODES];
    struct cli_tally sources[CLI_SOURCES]; /* indexed by SRC; index 0 without SRC */
    uint64_t syncs[16];                    /* indexed by SYNC */
    uint64_t stops[16];                    /* indexed by EVCODE */
    uint64_t field_count[NTR_FIELD_COUNT], field_bits[NTR_FIELD_COUNT];
    uint64_t messages, bytes, defects, stamped;
    uint64_t sync_count, last_sync, longest_without_sync; /* offsets and distances in bytes */
    uint64_t first_time, last_time; /* TSTAMP of the first and last synchronizing message that has one */
    const char *(*source_name)(const void *user,
                               uint16_t src); /* returns NULL for a source without a name; may be NULL */
    const void *user; /* its first argument */
};

/* Adds a message. */
void cli_statistics_add(struct cli_statistics *statistics, const ntr_message *message);

/* Writes the totals of the execution, counted by a decoder in the same stream. */
void cli_statistics_write_execution(const ntr_counts *counts, struct cli_rows *rows);

/* Writes the statistics. `idle` is the number of idle bytes between messages. */
void cli_statistics_write(const struct cli_statistics *statistics, const ntr_dialect *dialect, const char *file,
                          uint64_t idle, struct cli_rows *rows);

#endif
