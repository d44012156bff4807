/* State of the rules: the current message, and the previous messages of its source. */
#ifndef NTR_CHECK_STATE_H
#define NTR_CHECK_STATE_H

#include "trace/mode.h"

#include <ntrace/check.h>
#include <ntrace/clock.h>

typedef enum ntr_check_phase {
    NTR_PHASE_START,   /* no message of this source yet */
    NTR_PHASE_TRACED,  /* synchronized */
    NTR_PHASE_STOPPED, /* after ProgTraceCorrelation */
    NTR_PHASE_LOST,    /* after damage or an Error: only the message after an Error is checked */
} ntr_check_phase;

/* What rules ask of the previous message. Fields that it does not have are 0. */
typedef struct ntr_check_last {
    uint8_t tcode; /* NTR_TCODE_NONE: there is none */
    uint64_t rcode, uaddr, bcnt, rdata0, rdata1;
} ntr_check_last;

/* State of a source before the current message. */
typedef struct ntr_check_source {
    ntr_check_phase phase;
    ntr_mode mode;
    bool error_before;                 /* the previous message was an Error */
    bool loss;                         /* an Error occurred since the last synchronization */
    bool sync_before;                  /* the previous message was a synchronizing message */
    bool contexts, timed;              /* Ownership messages, timestamps have been seen */
    bool repeats;                      /* a RepeatBranch has been seen */
    bool one, two;                     /* B-TYPE 1, B-TYPE 2 or 3 have been seen */
    uint8_t format, format_before;     /* FORMAT when the previous message, the one before, was Ownership, else 0 */
    uint64_t pool_icnt, pool_branches; /* sums of preceding ResourceFull messages */
    uint64_t since_sync;               /* messages since the last synchronization, as counted for the period */
    ntr_check_last last;               /* the previous message of the flow */
    ntr_clock clock;
    /* Synchronized, and neither the messages before nor sums of ResourceFull restrict the next one. Most messages of a
     * stream come while their source is steady. */
    bool steady;
} ntr_check_source;

/* What the test of a rule sees: the message, and its source before it. */
typedef struct ntr_check_view {
    const ntr_check_config *config;
    const ntr_message *message;
    const ntr_check_source *source;
    ntr_mode mode; /* mode, including the current message */
} ntr_check_view;

typedef struct ntr_check_row ntr_check_row;
typedef bool ntr_check_test(const ntr_check_view *view, const ntr_check_row *row);

struct ntr_check_row {
    ntr_check_rule rule;
    uint8_t habit; /* which encoders are known to violate the rule: HABIT_* of check.c */
    ntr_check_test *test;
    int argument;
    uint8_t when; /* the messages to which it may apply: WHEN_* of check.c */
    bool unsteady; /* it can only be violated while the source is not steady */
};

/* Declarations of the tests in rules.def. */
#define NTR_CHECK(id, severity, habit, section, statements, when, state, test, field, argument, about, breaking)       \
    ntr_check_test ntr_rule_##test;
#include "check/rules.def"
#undef NTR_CHECK

/* Updates the source with a message without defect. */
void ntr_check_follow(ntr_check_source *source, const ntr_params *params, const ntr_message *message);

/* Handles damage: the sequence of messages is not checked until the next synchronization. */
void ntr_check_lose(ntr_check_source *source);

ntr_mode ntr_check_mode_of(const ntr_check_source *source, const ntr_params *params, const ntr_message *message);

/* Returns the number of branches in a history. */
unsigned ntr_check_branches(uint64_t hist);

/* Returns whether the message is a ResourceFull with branch history in RDATA0 (N-Trace 1.0). */
bool ntr_check_is_history(const ntr_message *m);

/* Returns whether B-TYPE of the message is 1; 2 or 3. */
bool ntr_check_is_plain_trap(const ntr_message *m);
bool ntr_check_is_detailed_trap(const ntr_message *m);

/* Returns whether the reason of synchronization is a full counter, as only BTM has it. */
bool ntr_check_is_counter_sync(const ntr_message *m);

#endif
