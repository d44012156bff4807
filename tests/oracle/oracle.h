/* Oracle: a second N-Trace decoder, for tests only.
 *
 * Written straight from N-Trace 1.0 sections 2 to 7 and 14 and from nothing else: it shares no code with
 * src/wire, src/message and src/decoder, has no cache and reports every program counter one at a time. Slow and
 * simple on purpose; what the library's decoder says must be what this one says. */
#ifndef NTRACE_TESTS_ORACLE_H
#define NTRACE_TESTS_ORACLE_H

#include <ntrace/bytes.h>
#include <ntrace/params.h>
#include <ntrace/program.h>

typedef enum oracle_kind {
    ORACLE_PC,       /* the instruction at `pc` retired */
    ORACLE_TRAP,     /* after the last instruction: `pc` is where the trap hit (if known), `code` = B-TYPE */
    ORACLE_SYNC,     /* `pc` = F-ADDR, `code` = SYNC */
    ORACLE_STOP,     /* ProgTraceCorrelation: `pc` (if known), `code` = EVCODE */
    ORACLE_CONTEXT,  /* Ownership: `context`, `code` = FORMAT */
    ORACLE_OVERFLOW, /* Error: `code` = ECODE */
    ORACLE_LOST,     /* not synchronized any more: `reason` */
    ORACLE_NOTE,     /* a harmless defect: `reason` */
    ORACLE_ACCESS,   /* a load (`code` 0) or store (1) of `size` bytes at `pc`: `data` */
} oracle_kind;

typedef struct oracle_event {
    oracle_kind kind;
    unsigned src, code;
    ntr_status reason;
    bool known; /* `pc` is */
    uint64_t pc;
    bool has_time;
    uint64_t time;   /* after the message that caused it */
    uint64_t offset; /* of that message */
    ntr_context context;
    unsigned size;
    uint64_t data;
    uint64_t pool; /* LOST: halfwords that ResourceFull reported and that are unusable now */
} oracle_event;

typedef struct oracle_options {
    const ntr_params *params;
    const ntr_program *program;
    void (*report)(void *user, const oracle_event *event);
    void *user;
} oracle_options;

/* Decode a whole stream. */
void oracle_decode(const oracle_options *options, ntr_bytes stream);

#endif
