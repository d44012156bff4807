/* The state of a search for the short-circuit graph of a decision (matcher.c), and what decides about its results
 * (match_results.c). */
#ifndef NTR_DECISION_MATCHER_H
#define NTR_DECISION_MATCHER_H

#include "decision/match.h"

typedef uint64_t ntr_branch_set;

enum { NTR_NO_CONDITION = 0xff, NTR_NOT_KNOWN = -1 };

typedef struct ntr_solution {
    uint8_t condition[NTR_CANDIDATES_MAX];
    int16_t taken_is[NTR_CANDIDATES_MAX]; /* NTR_NOT_KNOWN: both outcomes decide the result */
} ntr_solution;

/* Arrays by outcome: not taken, taken. */
typedef struct ntr_matcher {
    ntr_match *match;
    ntr_branch_set reach[NTR_CANDIDATES_MAX][2]; /* without those that begin an evaluation */
    uint32_t after[NTR_CANDIDATES_MAX][2]; /* where an outcome leads, also through branches that are certain then */
    bool retested[NTR_CANDIDATES_MAX][2]; /* a candidate is certain then: it tests the result */
    int8_t loads[NTR_CANDIDATES_MAX][2]; /* the result that the load of a stored result has then, or NTR_NOT_KNOWN */
    uint8_t certain[NTR_CANDIDATES_MAX]; /* bits 1 and 2: not taken, and taken, is certain after some outcome */
    ntr_branch_set unset; /* the operand of a candidate is from before the branch that leads to it */
    ntr_branch_set first;
    ntr_solution best;
    unsigned found, steps;
} ntr_matcher;

typedef struct ntr_result_exits {
    uint32_t at[2][2 * NTR_CANDIDATES_MAX]; /* by result */
    size_t count[2];
} ntr_result_exits;

/* Returns whether a candidate is a part of its condition, and goes on with another one after an outcome. */
static inline bool ntr_matcher_goes_on(const ntr_matcher *x, size_t i, unsigned taken) {
    return x->match->parts && x->match->parts[i].goes_on[taken];
}

/* Marks the candidates in the graph, or unmarks them. */
void ntr_match_mark(const ntr_match *match, bool set);
/* Returns the value of the condition of branch `i` when it is taken, by the statements that are reached
 * (match_exits.c), or NTR_NOT_KNOWN. */
int ntr_matcher_by_reach(const ntr_matcher *x, size_t i);
/* Returns whether this outcome of branch `i` leads to a statement that is executed with the result, and the other one
 * does not. */
bool ntr_matcher_reaches(const ntr_matcher *x, size_t i, bool taken, bool result);
/* Returns the result that the code of an exit stores (match_exits.c), or NTR_NOT_KNOWN. */
int ntr_matcher_value_at(const ntr_matcher *x, uint32_t exit);
/* Returns whether straight code leads from an exit to the call that the source makes with this result (match_exits.c).
 */
bool ntr_matcher_ends_in_call(const ntr_matcher *x, uint32_t exit, bool result);
/* Returns whether the code of an exit sets a register to a constant that the code of an exit with the opposite result
 * sets in another way (match_exits.c). */
bool ntr_matcher_sets_apart(const ntr_graph *graph, uint32_t exit, uint32_t opposite);
/* Returns the value of the condition, or of the group of conditions, of branch `i` when it is taken, by the constants
 * with which its code compares (match_operand.c), or NTR_NOT_KNOWN. Stores where the operand is, if `root` is not NULL.
 */
int ntr_matcher_by_operand(const ntr_matcher *x, size_t i, ntr_operand_root *root);
/* Decides which outcome of each branch is true. Returns whether all are known. */
bool ntr_matcher_results(ntr_matcher *x, ntr_result_exits *exits);
/* Returns whether both results lead to different code. */
bool ntr_matcher_differs(const ntr_match *match, const ntr_result_exits *exits);
/* Returns whether code may pass by the branches of the decision, which are marked, to where its results lead
 * (match_bypass.c). */
bool ntr_matcher_bypassed(ntr_graph *graph, const ntr_decision_record *record, const ntr_result_exits *exits);
/* Returns whether the line table places the branches at their conditions. */
bool ntr_matcher_places(const ntr_matcher *x);
/* Returns whether each call in a condition leads to the branches of this condition. */
bool ntr_matcher_calls(const ntr_matcher *x);

#endif
