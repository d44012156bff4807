/* Output formats of the findings of `ntrace check`. */
#ifndef CLI_TEXT_FINDINGS_H
#define CLI_TEXT_FINDINGS_H

#include "io/output.h"

#include <ntrace/check.h>
#include <ntrace/program.h>

enum cli_findings_format { CLI_FINDINGS_TEXT, CLI_FINDINGS_JSONL, CLI_FINDINGS_SARIF, CLI_FINDINGS_JUNIT };
#define CLI_FINDINGS_NAMES "text|jsonl|sarif|junit"

#define CLI_RULES_MAX 128

/* The findings of one rule. */
struct cli_rule_tally {
    uint64_t count;
    uint8_t severity; /* severity of its findings */
    char *text;       /* junit: the reported findings, one per line; NULL: none */
    size_t length, capacity;
};

struct cli_findings {
    struct cli_output *out;
    const char *file;
    const ntr_params *params;
    const ntr_program *program; /* NULL: no symbols */
    uint64_t max;              /* largest number of findings to report per rule */
    struct cli_rule_tally rules[CLI_RULES_MAX];
    uint64_t reported, by_severity[3];
};

/* Usage: cli_findings_begin, cli_findings_add for each finding, cli_findings_end, with the same format; then
 * cli_findings_free. Set the members up to `max` before. */
void cli_findings_begin(struct cli_findings *findings, enum cli_findings_format format);
void cli_findings_add(struct cli_findings *findings, enum cli_findings_format format, const ntr_finding *finding);

/* `messages` is the number of messages checked, `status` the exit status of the command. */
void cli_findings_end(struct cli_findings *findings, enum cli_findings_format format, uint64_t messages, int status);

void cli_findings_free(struct cli_findings *findings);

#endif
