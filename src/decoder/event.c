/* Names of events and of the ends of spans. */
#include <ntrace/event.h>

#include <stddef.h>

/* Binaries rely on both sizes: event.h, "Growth". */
_Static_assert(sizeof(ntr_context) == 24, "ntr_context has no padding and does not grow");
_Static_assert(sizeof(ntr_event) == 112, "ntr_event does not grow");

static const char *const kind_names[NTR_EVENT_KINDS] = {
    [NTR_EVENT_SPAN] = "span",
    [NTR_EVENT_SYNC] = "sync",
    [NTR_EVENT_CONTEXT] = "context",
    [NTR_EVENT_GAP] = "gap",
    [NTR_EVENT_STOP] = "stop",
    [NTR_EVENT_OVERFLOW] = "overflow",
    [NTR_EVENT_DATA] = "data",
    [NTR_EVENT_ICT] = "ict",
    [NTR_EVENT_NOTE] = "note",
    [NTR_EVENT_VENDOR] = "vendor",
    [NTR_EVENT_NO_CODE] = "blind",
    [NTR_EVENT_ACCESS] = "access",
    [NTR_EVENT_WATCHPOINT] = "watchpoint",
    [NTR_EVENT_TRAP_VALUE] = "trap-value",
};

static const char *const end_names[NTR_SPAN_KINDS] = {
    [NTR_SPAN_CUT] = "cut",
    [NTR_SPAN_NOT_TAKEN] = "not-taken",
    [NTR_SPAN_TAKEN] = "taken",
    [NTR_SPAN_JUMP] = "jump",
    [NTR_SPAN_CALL] = "call",
    [NTR_SPAN_INDIRECT_JUMP] = "indirect-jump",
    [NTR_SPAN_INDIRECT_CALL] = "indirect-call",
    [NTR_SPAN_CO_SWAP] = "co-swap",
    [NTR_SPAN_RETURN] = "return",
    [NTR_SPAN_TRAP_RETURN] = "trap-return",
    [NTR_SPAN_EXCEPTION] = "exception",
    [NTR_SPAN_INTERRUPT] = "interrupt",
    [NTR_SPAN_TRAP] = "trap",
};

const char *ntr_event_kind_name(unsigned kind) {
    return kind < NTR_EVENT_KINDS ? kind_names[kind] : NULL;
}

const char *ntr_span_end_name(unsigned end) {
    return end < NTR_SPAN_KINDS ? end_names[end] : NULL;
}

const char *ntr_data_access_name(unsigned access) {
    static const char *const names[] = {[NTR_DATA_READ] = "read", [NTR_DATA_WRITE] = "write"};
    return access <= NTR_DATA_WRITE ? names[access] : NULL;
}
