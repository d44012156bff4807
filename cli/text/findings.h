/* The forms that findings of 'ntrace check' are told in. */
#ifndef CLI_TEXT_FINDINGS_H
#define CLI_TEXT_FINDINGS_H

#include "io/output.h"

#include <ntrace/check.h>
#include <ntrace/program.h>

enum cli_findings_format { CLI_FINDINGS_TEXT, CLI_FINDINGS_JSONL, CLI_FINDINGS_SARIF, CLI_FINDINGS_JUNIT };
#define CLI_FINDINGS_NAMES "text|jsonl|sarif|junit"

#define CLI_RULES_MAX 128

/* What one rule came to. */
struct cli_rule_tally {
    uint64_t count;
    uint8_t severity; /* of its findings; a rule's findings are all alike */
    char *text;       /* junit: the findings told, a line each */
    size_t length, capacity;
};

struct cli_findings {
    struct cli_output *out;
    const char *file;
    const ntr_params *params;
    const ntr_program *program; /* NULL: no symbols */
    uint64_t most;              /* findings told of each rule */
    struct cli_rule_tally rules[CLI_RULES_MAX];
    uint64_t told, by_severity[3];
};

void cli_findings_begin(struct cli_findings *findings, enum cli_findings_format format);
void cli_findings_add(struct cli_findings *findings, enum cli_findings_format format, const ntr_finding *finding);

/* `status`: the exit status to come. */
void cli_findings_end(struct cli_findings *findings, enum cli_findings_format format, uint64_t messages, int status);

void cli_findings_free(struct cli_findings *findings);

#endif
