/* What the rules look at: one message, and what its source said before. */
#ifndef NTR_CHECK_STATE_H
#define NTR_CHECK_STATE_H

#include <ntrace/check.h>
#include <ntrace/clock.h>

typedef enum ntr_check_phase {
    NTR_PHASE_START,   /* nothing of this source yet */
    NTR_PHASE_TRACED,  /* synchronized */
    NTR_PHASE_STOPPED, /* after ProgTraceCorrelation */
    NTR_PHASE_LOST,    /* after damage or an Error: nothing is judged but what follows an Error */
} ntr_check_phase;

/* How a run, from one start to its stop, tells branches. */
typedef enum ntr_check_mode { NTR_MODE_NOT_GIVEN, NTR_MODE_BTM, NTR_MODE_HTM } ntr_check_mode;

/* One source before the message at hand. */
typedef struct ntr_check_source {
    ntr_check_phase phase;
    ntr_check_mode mode;
    bool error_before;                 /* the message before was an Error */
    bool loss;                         /* there was one since the last synchronization */
    bool sync_before;                  /* ... was a synchronizing one */
    bool contexts, timed;              /* Ownership, timestamps have been seen */
    bool one, two;                     /* B-TYPE 1, B-TYPE 2 or 3 have been seen */
    uint8_t format;                    /* FORMAT of the Ownership before, 0 none */
    uint64_t pool_icnt, pool_branches; /* from ResourceFull messages */
    uint64_t since_sync;               /* messages that count for the period */
    ntr_message last;                  /* the message before; `raw` means nothing */
    ntr_clock clock;
} ntr_check_source;

typedef struct ntr_check_view {
    const ntr_check_config *config;
    const ntr_message *message;
    const ntr_check_source *source;
    ntr_check_mode mode; /* with what this message shows */
} ntr_check_view;

typedef struct ntr_check_row ntr_check_row;
typedef bool ntr_check_test(const ntr_check_view *view, const ntr_check_row *row);

struct ntr_check_row {
    ntr_check_rule rule;
    bool refcode; /* the reference encoder's habit */
    ntr_check_test *test;
    int argument;
};

/* Every test of rules.def has its declaration here. */
#define NTR_CHECK(id, severity, habit, section, test, field, argument, about, breaking) ntr_check_test ntr_rule_##test;
#include "check/rules.def"
#undef NTR_CHECK

/* Bring the source up to date with a message without defect. */
void ntr_check_follow(ntr_check_source *source, const ntr_params *params, const ntr_message *message);

/* Damage: the order of messages is not judged until the next synchronization. */
void ntr_check_lose(ntr_check_source *source);

ntr_check_mode ntr_check_mode_of(const ntr_check_source *source, const ntr_message *message);

/* Branches that a history holds. */
unsigned ntr_check_branches(uint64_t hist);

/* Whether it is a ResourceFull whose RDATA0 is branch history, by N-Trace 1.0. */
bool ntr_check_is_history(const ntr_message *m);

#endif
