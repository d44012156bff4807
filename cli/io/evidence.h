/* What a coverage result rests on: traces, binaries and sources with their digests, gaps and losses. */
#ifndef CLI_IO_EVIDENCE_H
#define CLI_IO_EVIDENCE_H

#include "io/output.h"
#include "io/trace.h"

#include <ntrace/coverage.h>

struct cli_evidence_file {
    char *kind, *name, *digest;
};

struct cli_evidence {
    struct cli_evidence_file *files;
    size_t count, capacity;
    char **notes; /* gaps and losses */
    size_t note_count, note_capacity;
    bool failed;  /* out of memory */
};

/* Adds a trace: its files, the images of its program, its gaps and its losses. */
void cli_evidence_trace(struct cli_evidence *evidence, const char *path, const struct cli_trace *trace, uint64_t gaps);
/* Adds the sources of a coverage. */
void cli_evidence_sources(struct cli_evidence *evidence, ntr_coverage *coverage);
/* Writes the members "files" and "losses" of a JSON object. */
void cli_evidence_write(struct cli_evidence *evidence, struct cli_output *out);
void cli_evidence_release(struct cli_evidence *evidence);

#endif
