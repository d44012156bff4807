/* A reader of logs of cores: its life, and the form of a line. */
#include "ingress/core_log.h"

#include "base/allocator.h"

ntr_status ntr_core_log_new(ntr_classifier *classifier, ntr_core_log_format format, unsigned hart, unsigned xlen,
                            const ntr_allocator *allocator, ntr_core_log **out) {
    *out = NULL;
    ntr_core_log *log = ntr_alloc(allocator, 1, sizeof *log);
    if (!log) return NTR_E_MEMORY;
    log->classifier = classifier;
    log->allocator = allocator;
    log->format = format;
    log->hart = hart;
    log->xlen = xlen;
    log->state.priv = NTR_PRIV_M;
    log->rvfi.next = NTR_ADDRESS_UNKNOWN;
    log->rvvi.used = 1;
    for (rvvi_slot *s = log->rvvi.slots; s < log->rvvi.slots + CORE_SLOTS; s++) {
        s->mode = CORE_PRIV_UNKNOWN;
        s->record.epc = NTR_ADDRESS_UNKNOWN;
    }
    *out = log;
    return NTR_OK;
}

void ntr_core_log_free(ntr_core_log *log) {
    if (log) ntr_dealloc(log->allocator, log);
}

const char *ntr_core_log_error(const ntr_core_log *log) {
    return log->error;
}

uint64_t ntr_core_log_count(const ntr_core_log *log) {
    return log->count;
}

ntr_status ntr_core_log_line(ntr_core_log *log, const char *line, size_t length) {
    const char *end = line + length;
    log->line++;
    while (end > line && (end[-1] == '\r' || end[-1] == '\n')) end--;
    return log->format == NTR_CORE_LOG_RVVI ? ntr_rvvi_text_line(log, line, end) : ntr_rvfi_text_line(log, line, end);
}

ntr_status ntr_core_log_finish(ntr_core_log *log) {
    return log->format == NTR_CORE_LOG_RVVI ? NTR_OK : ntr_rvfi_text_end(log);
}
