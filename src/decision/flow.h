/* How often a decision is evaluated, by the source alone: a sum of entries of the function, results of other decisions, and
 * evaluations of conditions.
 *
 * Code that was optimized may skip the branches of a decision of which the result is known on some path (jump threading).
 * Such evaluations leave no trace. They are noticed because a decision is then evaluated less often than the source says.
 *
 * Example: int f(int a, int b) { if (a) return 1; while (b && g()) h(); }
 * The first decision is evaluated once in each entry. The second one is evaluated in each entry in which the first was
 * false, and after each evaluation of its own that was true: entries - true(1) + true(2). */
#ifndef NTR_DECISION_FLOW_H
#define NTR_DECISION_FLOW_H

#include <stdbool.h>
#include <stdint.h>

enum { NTR_FLOW_TERMS_MAX = 24 };
enum { NTR_FLOW_TRUE = -1 }; /* `what` of a term: results that are true; otherwise the number of a condition: its evaluations */

typedef struct ntr_flow_term {
    uint32_t decision; /* id of a decision; 0: entries of the function */
    int16_t what;
    int16_t factor;
} ntr_flow_term;

typedef struct ntr_flow_count {
    bool unknown;
    uint8_t count;
    ntr_flow_term terms[NTR_FLOW_TERMS_MAX];
} ntr_flow_count;

static inline ntr_flow_count ntr_flow_none(void) {
    return (ntr_flow_count){.unknown = false, .count = 0};
}
static inline ntr_flow_count ntr_flow_unknown(void) {
    return (ntr_flow_count){.unknown = true, .count = 0};
}
ntr_flow_count ntr_flow_of(uint32_t decision, int what);
/* Returns a + factor * b. */
ntr_flow_count ntr_flow_add(const ntr_flow_count *a, const ntr_flow_count *b, int factor);

#endif
