/* Logs of the verification interfaces of cores, RVVI and RVFI: instructions that retired or trapped.
 *
 * A record with a trap did not retire: it is an exception at its address, and the next record is the handler. A record
 * that is the first of a handler, without a trap before it, comes after an interrupt. Where the log does not say so,
 * the classifier sees that the instruction does not follow the one before it, and counts a discontinuity. After a
 * conditional branch an interrupt has no address unless the log gives it: the classifier sees this case, too, so that
 * no outcome of the branch is invented without a word. */
#include "ingress/core_log.h"

#include "base/text.h"
#include "ingress/logged.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

ntr_status ntr_core_log_refuse(ntr_core_log *log, const char *format, ...) {
    va_list args;
    int used = snprintf(log->error, sizeof log->error, "line %" PRIu64 ": ", log->line);
    va_start(args, format);
    vsnprintf(log->error + used, sizeof log->error - (size_t)used, format, args);
    va_end(args);
    return NTR_E_SYNTAX;
}

static ntr_status check_order(ntr_core_log *log, const core_record *record) {
    if (!record->has_order) return NTR_OK;
    if (log->ordered && record->order != log->order + 1)
        return ntr_core_log_refuse(
            log, "expected instruction %" PRIu64 " (order), found %" PRIu64 "; instructions are missing or not sorted",
            log->order + 1, record->order);
    log->order = record->order;
    log->ordered = true;
    return NTR_OK;
}

static ntr_status enter_trap(ntr_core_log *log, const core_record *record) {
    uint64_t epc = record->trap && record->epc == NTR_ADDRESS_UNKNOWN ? record->pc : record->epc;
    if (!ntr_fit_address(log->xlen, &epc) && record->epc != NTR_ADDRESS_UNKNOWN)
        return ntr_core_log_refuse(log, "expected an epc of 32 bits");
    if (record->epc == NTR_ADDRESS_UNKNOWN && !record->trap) epc = NTR_ADDRESS_UNKNOWN;
    const bool interrupt = !record->trap || record->interrupt;
    return ntr_classifier_trap(log->classifier, interrupt ? NTR_ITYPE_INTERRUPT : NTR_ITYPE_EXCEPTION, epc,
                               record->cause, record->tval);
}

static ntr_status change_state(ntr_core_log *log, const core_record *record) {
    const bool other = record->priv != CORE_PRIV_UNKNOWN && record->priv != log->state.priv;
    if (!other && !record->has_cycle) return NTR_OK;
    if (other) log->state.priv = record->priv;
    if (record->has_cycle) log->state.time = record->cycle;
    return ntr_classifier_set_state(log->classifier, &log->state);
}

ntr_status ntr_core_log_take(ntr_core_log *log, core_record *record) {
    const char *why = NULL;
    if (record->pc & 1) return ntr_core_log_refuse(log, "expected an even pc, found 0x%" PRIx64, record->pc);
    if (!ntr_fit_address(log->xlen, &record->pc)) return ntr_core_log_refuse(log, "expected a pc of 32 bits");
    ntr_status status = check_order(log, record);
    if (status != NTR_OK) return status;
    log->count++;
    if (record->trap) {
        log->trapped = true;
        return enter_trap(log, record);
    }
    const bool unknown = record->epc == NTR_ADDRESS_UNKNOWN && log->flow == NTR_FLOW_BRANCH;
    if (record->handler && !log->trapped && log->count > 1 && !unknown) status = enter_trap(log, record);
    log->trapped = false;
    if (status == NTR_OK) status = change_state(log, record);
    if (status == NTR_OK)
        status = ntr_logged_retire(log->classifier, log->xlen, record->pc, record->insn, &log->flow, &why);
    return why ? ntr_core_log_refuse(log, "%s", why) : status;
}
