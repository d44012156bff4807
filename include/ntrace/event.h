/* Events: what a decoder reports about the execution it reconstructs. N-Trace 1.0 section 14.
 *
 * ntr_decoder_read gives an array of events, in the order of the messages that produce them. Each event belongs to one
 * source (SRC, a hart) and carries the context of that source: a consumer needs no table of its own of what each source
 * executes in.
 *
 * Units: addresses are byte addresses; lengths of code are halfwords (2 bytes), as in I-CNT; stream offsets are bytes
 * from the beginning of the stream; times are ticks of the source's timestamp clock (see clock.h).
 *
 * Ownership: an event is a value without pointers. It may be copied, kept as long as wanted, written to a file and
 * handed to another thread.
 *
 * Growth: sizeof(ntr_event) never changes while the library keeps its soname. Bytes after the members of a
 * kind of event are 0, and so is ntr_context.reserved: new members take them, and 0 in a new member means that nothing
 * more is known. A consumer ignores kinds of events that it does not know. */
#ifndef NTRACE_EVENT_H
#define NTRACE_EVENT_H

#include <ntrace/context.h>
#include <ntrace/message.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_event_kind {
    NTR_EVENT_SPAN = 0, /* straight-line code that was executed */
    NTR_EVENT_SYNC,     /* a synchronizing message was processed: `address`; `code` is SYNC (section 6.3) */
    NTR_EVENT_CONTEXT,  /* an Ownership message: `context` is the new context; `code` is its FORMAT (section 5) */
    NTR_EVENT_GAP,      /* a part of the execution that cannot be reconstructed: `gap`, `reason` */
    NTR_EVENT_STOP,     /* ProgTraceCorrelation: `address` is the next instruction; `code` is EVCODE */
    NTR_EVENT_OVERFLOW, /* Error message: `code` is ETYPE, `data` ECODE; a gap follows if flow was lost */
    NTR_EVENT_DATA,     /* data acquisition (dialects): `tag` is IDTAG, `data` DQDATA of `data_size` bytes */
    NTR_EVENT_ICT,      /* in-circuit trace (dialects): `code` is CKSRC; `address`, `tag`, `data` */
    NTR_EVENT_NOTE,     /* a defect that does not stop decoding: `reason` */
    NTR_EVENT_VENDOR,   /* a vendor-defined or reserved message: `code` is TCODE */
    NTR_EVENT_NO_CODE,  /* executed code that no image has: `halfwords` from `address` on, then to `target` */
    NTR_EVENT_ACCESS,   /* a load or store: `code` is ntr_data_access; `data_address`, `data_size`, `data`, `tag` */
    NTR_EVENT_WATCHPOINT, /* watchpoints were hit: `data` has one bit for each */
    NTR_EVENT_TRAP_VALUE, /* the value that a trap gave to its handler (dialects): `data` is xtval, `code` its kind */
    NTR_EVENT_KINDS,
} ntr_event_kind;

/* How a span ends. */
typedef enum ntr_span_end {
    NTR_SPAN_CUT = 0,       /* no jump: execution continues at `target`, the address after the span */
    NTR_SPAN_NOT_TAKEN,     /* conditional branch, not taken */
    NTR_SPAN_TAKEN,         /* conditional branch, taken */
    NTR_SPAN_JUMP,          /* direct jump */
    NTR_SPAN_CALL,          /* direct call */
    NTR_SPAN_INDIRECT_JUMP,
    NTR_SPAN_INDIRECT_CALL,
    NTR_SPAN_CO_SWAP,       /* co-routine swap: a return and a call in one instruction */
    NTR_SPAN_RETURN,
    NTR_SPAN_TRAP_RETURN,   /* MRET, SRET and the like */
    NTR_SPAN_EXCEPTION,     /* B-TYPE 2: an exception after the last instruction of the span */
    NTR_SPAN_INTERRUPT,     /* B-TYPE 3 */
    NTR_SPAN_TRAP,          /* B-TYPE 1: an exception or an interrupt */
    NTR_SPAN_KINDS,
} ntr_span_end;

/* Bits of ntr_event.flags. */
enum {
    NTR_EVENT_TIME = 1u << 0,            /* `time` is known */
    NTR_EVENT_IMPLICIT = 1u << 1,        /* no message reported the end: return stack, sequential jump (section 11) */
    NTR_EVENT_TARGET_UNKNOWN = 1u << 2,  /* `target` is not known and 0 */
    NTR_EVENT_ADDRESS_UNKNOWN = 1u << 3, /* `address` is not known */
    NTR_EVENT_RUNS_ON = 1u << 4, /* NTR_SPAN_CUT: the code at `target` was executed next (ntr_decoder_set_division) */
};

/* A span is `instructions` (>= 0) retired instructions in `halfwords` halfwords from `address` on. The last of them
 * starts at `last`. Then control went to `target`. A span of no instruction is a trap before the instruction at
 * `address`. instructions.h expands spans.
 *
 * NTR_EVENT_NO_CODE is what messages report about code that no image has: how many halfwords, and how it ended
 * (NTR_SPAN_INDIRECT_JUMP for every uninferable jump). Its `instructions` and `last` are 0. */
typedef struct ntr_event {
    uint8_t kind;        /* ntr_event_kind */
    uint8_t end;         /* SPAN, NO_CODE: ntr_span_end */
    uint8_t flags;       /* NTR_EVENT_* */
    uint8_t code;        /* see ntr_event_kind */
    uint16_t src;        /* SRC of the source; 0 in streams without SRC */
    int16_t reason;      /* GAP, NOTE: ntr_status, negative */
    uint64_t offset;     /* byte offset of the message that produced the event */
    uint64_t message;    /* number of that message, counted from 1 */
    uint64_t time;       /* the source's clock after that message; see NTR_EVENT_TIME */
    ntr_context context; /* of the source, where the event happened; CONTEXT: from then on */
    union {
        struct { /* SPAN, NO_CODE; `address` also SYNC, STOP, NOTE */
            uint64_t address, last, target;
            uint32_t instructions, halfwords;
            uint64_t repeats; /* SPAN: see ntr_decoder_set_repeats; else 0 */
        };
        struct { /* GAP: bytes [offset, until) of the stream, messages [message, until_message) */
            uint64_t from_address; /* last address that is certain, if `from_known` */
            uint64_t until, until_message;
            uint64_t to_address;   /* where decoding went on, if `to_known` */
            uint64_t from_time, to_time; /* if `from_timed`, `to_timed` */
            bool from_known, to_known, from_timed, to_timed;
            uint8_t tcode; /* of the message at `offset`; NTR_TCODE_NONE: bytes that are no message */
            uint8_t field; /* ntr_field that is wrong in that message, or NTR_FIELD_NONE */
        } gap;
        struct { /* DATA, ACCESS, OVERFLOW, TRAP_VALUE, ICT. ACCESS: a data message tells nothing of the instruction; it
                  * was executed between the program messages before and after. `data_size` is DSZ, `tag` the size of an
                  * element; NTR_EVENT_ADDRESS_UNKNOWN: the address before it was lost. ICT: `data` is CKDATA1, of a
                  * call or return its target; `tag` is CKDATA0 when that is no address; NTR_EVENT_ADDRESS_UNKNOWN: it
                  * carries no address */
            uint64_t data_address; /* the same as `address` */
            uint64_t tag, data;
            uint8_t data_size; /* bytes of `data` */
            uint64_t data_more[2]; /* DATA, ACCESS: bits 64 to 191 of the data */
        };
    };
} ntr_event;

/* Returns how many executions an event stands for: 1, but for spans of a loop (ntr_decoder_set_repeats). */
static inline uint64_t ntr_event_times(const ntr_event *event) {
    return event->kind == NTR_EVENT_SPAN ? event->repeats + 1 : 1;
}

/* Returns how many instructions a span stands for: those of all its executions. */
static inline uint64_t ntr_event_executed(const ntr_event *event) {
    return event->instructions * (event->repeats + 1);
}

/* Returns whether the reason of a gap is that the code is not known: the messages may all be valid. */
static inline bool ntr_reason_is_of_code(int reason) {
    return reason == NTR_E_NO_IMAGE || reason == NTR_E_JUMP_TABLE || reason == NTR_E_HARDWARE_LOOP ||
           reason == NTR_E_UNDECIDED;
}

/* The place of an address when the event happened, and as its source saw it. Valid as long as the event. */
static inline ntr_place ntr_event_place(const ntr_event *event, uint64_t address) {
    return ntr_place_at(&event->context, event->offset, address);
}

/* The name of a kind ("span", "sync", ...) and of an end ("taken", "call", ...). Static storage; NULL for other
 * values. */
NTR_API const char *ntr_event_kind_name(unsigned kind);
NTR_API const char *ntr_span_end_name(unsigned end);

/* The name of an ntr_data_access, "read" or "write"; NULL for other values. Static storage. */
NTR_API const char *ntr_data_access_name(unsigned access);

/* Returns whether an event is a message that is accepted although damage is the likely reason: one with a reserved
 * TCODE (section 3), or with bytes after its last field. */
static inline bool ntr_event_is_doubtful(const ntr_event *event, const ntr_dialect *dialect) {
    if (event->kind == NTR_EVENT_VENDOR) return ntr_tcode_is_reserved(dialect, event->code);
    return event->kind == NTR_EVENT_NOTE && event->reason == NTR_E_FIELD_EXTRA;
}

#ifdef __cplusplus
}
#endif
#endif
