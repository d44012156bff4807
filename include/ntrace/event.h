/* Events: what a decoder tells of an execution. The one struct between flow and everything above it. */
#ifndef NTRACE_EVENT_H
#define NTRACE_EVENT_H

#include <ntrace/program.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_event_kind {
    NTR_EVENT_SPAN = 0,  /* straight code executed */
    NTR_EVENT_SYNC,      /* a synchronizing message was reached: `address`, `code` = SYNC */
    NTR_EVENT_CONTEXT,   /* Ownership: privilege and contexts after it */
    NTR_EVENT_GAP,       /* something is not known */
    NTR_EVENT_STOP,      /* ProgTraceCorrelation: `address` = where execution stopped, `code` = EVCODE */
    NTR_EVENT_OVERFLOW,  /* Error message: `code` = ETYPE, `data` = ECODE; a gap follows */
    NTR_EVENT_DATA,      /* data acquisition (dialects): `tag` = IDTAG, `data` = DQDATA, `data_size` bytes */
    NTR_EVENT_ICT,       /* in-circuit trace (dialects): `code` = CKSRC, `address`, `data` */
    NTR_EVENT_NOTE,      /* a harmless defect; decoding went on: `reason` */
    NTR_EVENT_VENDOR,    /* vendor or reserved message passed through: `code` = TCODE */
    NTR_EVENT_NO_CODE,     /* code that no image has: `halfwords` ran from `address` on, then flow went to `target` */
    NTR_EVENT_KINDS,
} ntr_event_kind;

/* How a span ended. */
typedef enum ntr_end {
    NTR_END_CUT = 0,         /* it goes on: the next span of this source starts at `target` */
    NTR_END_NOT_TAKEN,       /* conditional branch not taken */
    NTR_END_TAKEN,           /* conditional branch taken */
    NTR_END_JUMP,            /* direct jump */
    NTR_END_CALL,            /* direct call */
    NTR_END_INDIRECT_JUMP,
    NTR_END_INDIRECT_CALL,
    NTR_END_CO_SWAP,
    NTR_END_RETURN,
    NTR_END_TRAP_RETURN,
    NTR_END_EXCEPTION,       /* B-TYPE 2: trapped after the last instruction of the span */
    NTR_END_INTERRUPT,       /* B-TYPE 3 */
    NTR_END_TRAP,            /* B-TYPE 1: exception or interrupt */
    NTR_END_KINDS,
} ntr_end;

enum {
    NTR_EVENT_TIME = 1u << 0,          /* `time` is known */
    NTR_EVENT_IMPLICIT = 1u << 1,      /* the span's end was inferred (return stack, sequential jump) */
    NTR_EVENT_TARGET_UNKNOWN = 1u << 2,/* `target` is not known */
    NTR_EVENT_ADDRESS_UNKNOWN = 1u << 3,/* `address` is not known */
};

/* A span holds `instructions` (>= 0) retired instructions of `halfwords` halfwords from `address` on; the
 * last one starts at `last`. A trap may end a span of zero instructions. Control then went to `target`.
 *
 * A blind span is what messages tell of code without image: how many halfwords, and how it ended as far as
 * that shows (NTR_END_INDIRECT_JUMP for every uninferable jump). Its `instructions` and `last` mean nothing.
 *
 * `time` is the source's clock after the message that told the event. */
typedef struct ntr_event {
    uint8_t kind;   /* ntr_event_kind */
    uint8_t end;    /* span: ntr_end */
    uint8_t flags;  /* NTR_EVENT_* */
    uint8_t code;   /* SYNC, EVCODE, ETYPE, CKSRC, TCODE, Ownership FORMAT */
    uint16_t src;
    int16_t reason;        /* gap, note: ntr_status */
    uint64_t offset;       /* byte offset of the message that told it */
    uint64_t message;      /* its number */
    uint64_t time;         /* in ticks of the source's clock; see NTR_EVENT_TIME */
    union {
        struct { /* SPAN, BLIND; `address` also SYNC, STOP, ICT, NOTE */
            uint64_t address, last, target;
            uint32_t instructions, halfwords;
        };
        struct { /* GAP: bytes [offset, until) of the stream and messages [message, until_message) told nothing */
            uint64_t from_address; /* last sure address; see `from_known` */
            uint64_t until, until_message;
            uint64_t to_address;   /* where decoding went on */
            uint64_t from_time, to_time;
            bool from_known, to_known, from_timed, to_timed;
            uint8_t tcode; /* of the message it begins at; NTR_TCODE_NONE: bytes that are none */
            uint8_t field; /* ntr_field that is wrong in that message, or NTR_FIELD_NONE */
        } gap;
        struct { /* DATA, OVERFLOW, ICT (address 0 with NTR_EVENT_ADDRESS_UNKNOWN when it carries none; `data` is
                  * CKDATA1, for a call or return where it went; `tag` CKDATA0 when that is no address) */
            uint64_t data_address; /* = address */
            uint64_t tag, data;
            uint8_t data_size;
        };
        ntr_context context; /* CONTEXT */
    };
} ntr_event;

/* "span", "sync", ...; "taken", "call", ... Static storage; NULL for values that are none. */
NTR_API const char *ntr_event_kind_name(unsigned kind);
NTR_API const char *ntr_end_name(unsigned end);

/* An event as an object of JSON or a row of CSV (docs/output.md, "Events"), line feed included, no NUL. `text` has
 * room for NTR_EVENT_TEXT_MAX bytes; returns how many were written. CSV of NULL: the row of column names. */
#define NTR_EVENT_TEXT_MAX 4096
NTR_API size_t ntr_event_json(const ntr_event *event, char *text);
NTR_API size_t ntr_event_csv(const ntr_event *event, char *text);

#ifdef __cplusplus
}
#endif
#endif
