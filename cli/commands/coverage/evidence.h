/* `ntrace coverage --evidence DIR`: all results of a run, with what they rest on. */
#ifndef CLI_COMMANDS_COVERAGE_EVIDENCE_H
#define CLI_COMMANDS_COVERAGE_EVIDENCE_H

#include "commands/coverage/page.h"

/* Writes the files into the folder, which is created. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_coverage_evidence(const struct cli_coverage_evidence *e, const char *folder);

#endif
