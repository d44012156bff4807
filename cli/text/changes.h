/* Changes from one execution to another, as the tables of `ntrace compare`. */
#ifndef CLI_TEXT_CHANGES_H
#define CLI_TEXT_CHANGES_H

#include "io/output.h"
#include "text/relation.h"

#include <ntrace/costs.h>

/* One of the two executions. */
struct cli_compared {
    const char *path;
    const char *kind;            /* "trace", "partial answer", "profile" */
    bool complete;               /* nothing is known to be missing */
    uint64_t gaps, reserved;     /* numbers of gaps and of messages that may be damaged */
    char *quality;               /* JSON object; NULL: not known */
    char **losses;               /* what the capture says that it lost */
    size_t loss_count;
};

struct cli_changes {
    const ntr_cost_changes *changes;
    struct cli_compared side[2];
    double fail_over; /* percent; negative: no gate */
    bool passed;
    enum cli_relation relation;
    uint32_t *order; /* numbers of the paths that have instructions of their own, the largest change first */
    size_t path_count;
    size_t top; /* rows of each table */
};

/* Tables for people; `markdown`: for a merge request. */
void cli_changes_text(struct cli_output *out, const struct cli_changes *c, bool markdown);

/* docs/schemas/compare.schema.json describes it. */
void cli_changes_json(struct cli_output *out, const struct cli_changes *c);

/* Returns B - A in percent of A; 0 if A is 0. */
static inline double cli_change_percent(const uint64_t count[2]) {
    return count[0] ? 100.0 * ((double)count[1] - (double)count[0]) / (double)count[0] : 0;
}

static inline int64_t cli_change(const uint64_t count[2]) {
    return (int64_t)(count[1] - count[0]);
}

#endif
