/* Oracle, first half: bytes to messages. N-Trace 1.0 sections 2 to 6. */
#ifndef NTRACE_TESTS_ORACLE_PARSE_H
#define NTRACE_TESTS_ORACLE_PARSE_H

#include <ntrace/bytes.h>
#include <ntrace/params.h>
#include <stdbool.h>

/* Fields are known by one letter, the one that `layout` in parse.c gives them. */
typedef struct oracle_message {
    unsigned tcode, src;
    uint64_t field[128]; /* by letter; 0 when absent */
    bool has[128];
    uint64_t offset;
    ntr_status defect;   /* NTR_OK, or why these bytes are no message */
} oracle_message;

/* The message after `*at`, which moves behind it. False at the end of the stream. */
bool oracle_parse(const ntr_params *params, ntr_bytes stream, size_t *at, oracle_message *message);

#endif
