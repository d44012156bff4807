/* What an analysis reports of the events of a trace: gaps, and messages that may be damaged. */
#include "commands/shared/analysis.h"
#include "options/diagnostics.h"

#include <inttypes.h>

void cli_analysis_report_gap(struct cli_analysis *a, uint64_t offset, uint64_t message, int reason) {
    if (a->gaps < NTR_PARTIAL_GAPS) a->first_gaps[a->gaps] = (ntr_partial_gap){offset, message, (int16_t)reason};
    a->gaps++;
    if (cli_defect_count_gap(&a->defects))
        cli_note("%s: byte 0x%" PRIx64 ", message #%" PRIu64 ": gap: %s", a->path, offset, message,
                 ntr_status_text((ntr_status)reason));
}

void cli_analysis_other(void *user, const ntr_event *event) {
    struct cli_analysis *a = user;

    if (event->kind == NTR_EVENT_GAP && a->rated) cli_quality_gap(&a->quality, event);
    if (event->kind == NTR_EVENT_GAP) cli_analysis_report_gap(a, event->offset, event->message, event->reason);
    if (ntr_event_is_doubtful(event, a->trace.params.dialect)) a->reserved++;
}
