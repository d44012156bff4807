/* How often a decision is evaluated, by the source alone: a sum of entries of the function, results of other decisions,
 * evaluations of decisions and of conditions, and executions of calls.
 *
 * Code that was optimized may skip the branches of a decision of which the result is known on some path (jump
 * threading). Such evaluations leave no trace. They are noticed because a decision is then evaluated less often than
 * the source says.
 *
 * Example: int f(int a, int b) { if (a) return 1; while (b && g()) h(); }
 * The first decision is evaluated once in each entry. The second one is evaluated in each entry in which the first was
 * false, and after each evaluation of its own that was true: entries - true(1) + true(2).
 *
 * There are two sums. The far one begins at the entry of the function; the near one at the last call or decision
 * before. Each of them may be unknown, or refer to a decision that is not known itself. Example: in for (;;) { g(); if
 * (a && b) break; } only the near one is known: as often as g is called. */
#ifndef NTR_DECISION_FLOW_H
#define NTR_DECISION_FLOW_H

#include <stdbool.h>
#include <stdint.h>

enum { NTR_FLOW_TERMS_MAX = 24 };
/* `what` of a term: results that are true; all evaluations; executions of a call, of which `id` is the number;
 * otherwise the number of a condition: its evaluations. */
enum { NTR_FLOW_TRUE = -1, NTR_FLOW_EVALUATED = -2, NTR_FLOW_CALL = -3 };

typedef struct ntr_flow_term {
    uint32_t id; /* of a decision or of a call; 0: entries of the function */
    int16_t what;
    int16_t factor;
} ntr_flow_term;

typedef struct ntr_flow_sum {
    bool unknown;
    uint8_t count;
    ntr_flow_term terms[NTR_FLOW_TERMS_MAX];
} ntr_flow_sum;

typedef struct ntr_flow_count {
    ntr_flow_sum far, near;
} ntr_flow_count;

ntr_flow_count ntr_flow_none(void);
ntr_flow_count ntr_flow_unknown(void);
ntr_flow_count ntr_flow_of(uint32_t id, int what);
/* Returns a + factor * b. */
ntr_flow_count ntr_flow_add(const ntr_flow_count *a, const ntr_flow_count *b, int factor);
/* Returns a count of which the near sum begins here. The far one, too, if it is not known. */
ntr_flow_count ntr_flow_restart(const ntr_flow_count *now, uint32_t id, int what);

#endif
