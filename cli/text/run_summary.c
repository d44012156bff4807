#include "text/run_summary.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static void put(const ntr_capture_result *result) {
    double bits = result->instructions ? 8.0 * (double)result->bytes / (double)result->instructions : 0;
    const bool next = !result->pid && result->instructions; /* nothing to see in a trace without instructions */
    char process[320] = "";

    if (result->pid) snprintf(process, sizeof process, "pid %d, %s, ", result->pid, result->process);
    cli_note("%s: %s%" PRIu64 " instructions, %" PRIu64 " bytes, %.3g bits an instruction%s%s", result->bundle, process,
             result->instructions, result->bytes, bits, next ? "; next: ntrace profile " : "",
             next ? result->bundle : "");
}

void cli_run_summary(const ntr_capture_session *session) {
    ntr_capture_result result = {.size = sizeof result};

    for (size_t i = 1; ntr_capture_result_at(session, i, &result); i++) put(&result);
    if (ntr_capture_result_at(session, 0, &result)) put(&result);
}
