/* What a coverage result rests on: traces, binaries and sources with their digests, gaps and losses. */
#ifndef CLI_COMMANDS_COVERAGE_BASIS_H
#define CLI_COMMANDS_COVERAGE_BASIS_H

#include "io/output.h"
#include "io/source_match.h"
#include "io/trace.h"

#include <ntrace/coverage.h>
#include <ntrace/decision.h>

struct cli_evidence_file {
    char *kind, *name, *digest;
};

/* A trace with the coverage of it alone. */
struct cli_evidence_test {
    char *name, *trace; /* name of the test; "" when it has none */
    ntr_params params;  /* of the stream */
    ntr_coverage *coverage;
};

struct cli_evidence {
    struct cli_evidence_test *tests;
    size_t test_count, test_capacity;
    struct cli_evidence_file *files;
    size_t count, capacity;
    char **notes; /* gaps and losses */
    size_t note_count, note_capacity;
    const struct cli_source_match *match; /* sources that are not those of the programs; NULL: not compared */
    bool failed;  /* out of memory */
};

/* Adds a trace: its files, the images of its program with the other files of their debug information, its gaps and its
 * losses. */
void cli_evidence_trace(struct cli_evidence *evidence, const char *path, const struct cli_trace *trace,
                        ntr_debug_info *debug, uint64_t gaps);
/* Adds a file with a meaning of its own, such as the justifications. `path` NULL: none. */
void cli_evidence_input(struct cli_evidence *evidence, const char *path);
/* Takes the coverage of a trace. It is freed with the evidence, also after an error. */
void cli_evidence_test(struct cli_evidence *evidence, const char *path, const struct cli_trace *trace,
                       ntr_coverage *coverage);
/* Writes a JSON document: the tests, and by line and by vector the tests that execute it, as indexes. */
void cli_evidence_write_tests(const struct cli_evidence *evidence, ntr_coverage *coverage,
                              const ntr_decisions *decisions, struct cli_output *out);
/* Writes the numbers of the tests that execute a line. `at`: one element per test, 0 before the first line; lines are
 * asked for in their order. */
void cli_evidence_write_line_tests(const struct cli_evidence *evidence, const ntr_cover_line *line, size_t *at,
                                   struct cli_output *out);
/* Calls `take` for each parameter of a stream that has a value. `index` counts from 0. */
void cli_evidence_parameters(const ntr_params *params,
                             void (*take)(struct cli_output *out, size_t index, const char *name, const char *value),
                             struct cli_output *out);
/* Writes the numbers of the runs of a vector. */
void cli_evidence_write_runs(const ntr_vector *vector, struct cli_output *out);
/* Adds the sources of a coverage. */
void cli_evidence_sources(struct cli_evidence *evidence, ntr_coverage *coverage);
/* Writes the members "traces" (with the parameters of the stream), "files", "other_sources" and "losses" of a JSON
 * object. */
void cli_evidence_write(struct cli_evidence *evidence, struct cli_output *out);
void cli_evidence_release(struct cli_evidence *evidence);

#endif
