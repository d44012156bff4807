/* Finds the short-circuit graph of a decision among candidate branches (code_map.h has the idea). */
#ifndef NTR_DECISION_MATCH_H
#define NTR_DECISION_MATCH_H

#include "decision/graph.h"
#include "decision/groups.h"
#include "decision/record.h"
#include "decision/sources.h"
#include "decision/statements.h"

enum { NTR_CANDIDATES_MAX = 64 };

/* A branch that the line table places inside of a decision. */
typedef struct ntr_candidate {
    uint32_t insn;         /* index in the graph */
    uint32_t line, column; /* its row in the line table */
} ntr_candidate;

/* Where the operand of a comparison is in the code: in a register, before an instruction. The register has the value as
 * the type with these bytes. */
typedef struct ntr_operand_root {
    uint32_t at; /* index of the instruction in the graph */
    uint8_t reg; /* 0: not known */
} ntr_operand_root;

/* The result for one candidate. */
typedef struct ntr_matched {
    uint8_t condition;
    bool taken_is, first;
    bool retested[2]; /* by outcome, not taken and taken: a result is tested once more, by another candidate */
    bool goes_on[2]; /* by outcome: another candidate of the same condition is executed next */
} ntr_matched;

/* What is known of a candidate that is a branch of an operand && or || of a condition ?: (record.h). */
typedef struct ntr_operand_part {
    bool is_part, taken_is;
    bool goes_on[2]; /* by outcome: the operand has no value yet. Where both do, `taken_is` means nothing. */
} ntr_operand_part;

typedef struct ntr_match {
    ntr_graph *graph;
    ntr_debug_info *debug;
    const ntr_decision_record *record;
    const ntr_candidate *candidates;
    const ntr_operand_part *parts; /* of each candidate and one more; NULL: they are branches of conditions */
    size_t count;
    const ntr_statements *statements;
    ntr_code_kind kind;
    const ntr_decision_record *ungrouped; /* the record has groups of the conditions of this one, by `grouping`: the
                                           * places of the branches must prove more; or NULL */
    uint8_t stored; /* number + 1 of the candidate that is the load of a stored result (match_stored.c); 0: none */
    bool lost; /* `stored` is where the last condition begins: no instruction has its value */
    bool placed; /* result: each candidate is known to evaluate `condition`, also if the rest is not known */
    bool possible; /* result: the branches have the structure and the places, also if it is not known what their
                      outcomes mean */
    bool complete; /* result: no code passes by the branches (match_bypass.c) */
    ntr_matched matched[NTR_CANDIDATES_MAX];
    ntr_operand_root
        operands[NTR_CANDIDATES_MAX]; /* result: of branches of groups, the operand that the conditions compare */
    ntr_grouping grouping; /* result: if it has groups, the conditions in `matched` are numbers of groups */
} ntr_match;

/* Matches the candidates. Returns NULL, or why it is not possible. */
const char *ntr_match_find(ntr_match *match);

/* The same, where the compiler computes conditions together (groups.h). */
const char *ntr_match_groups(ntr_match *match);

/* Matches the branches of a decision of which the compiler stores the result, and does not test the last condition:
 * matched[count] and roots[count] are then those of the load of the result (match_stored.c). Stores its instruction. */
const char *ntr_match_stored(ntr_match *match, uint32_t *load);

/* Matches the branches of a decision of which no instruction shows the last condition: its value is not known. */
const char *ntr_match_lost(ntr_match *match);

/* Returns the set of candidates that only test the result of the others: they are reached only from outcomes after
 * which their own outcome is certain, and each of their outcomes is certain after some (values.h). */
uint64_t ntr_match_retests(ntr_match *match);

#endif
