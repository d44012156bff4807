/* What `ntrace run` says at its end. */
#ifndef CLI_TEXT_RUN_SUMMARY_H
#define CLI_TEXT_RUN_SUMMARY_H

#include <ntrace/capture.h>

/* One line on standard error for each bundle, that of the first process last: "8.1.ntrace: pid 81, sh, ...". */
void cli_run_summary(const ntr_capture_session *session);

#endif
