/* Conditions that the compiler computes together.
 *
 * gcc evaluates operands of && and || that have no effects without a branch between them: a || b is tested as (a | b)
 * != 0. Such conditions are a group: the branch shows the value of the group, and with it the result of the decision.
 * The values of its conditions follow only where one vector has this value. Example: when a || b is false, both are
 * false; when it is true, a is true, or a is false and b is true, which the trace does not show.
 *
 * A decision with N conditions has N - 1 borders between them. Each set of borders without a branch is a structure that
 * is compared with the code (matcher.c). Several may fit when they give the branches the same numbers of groups: two
 * branches of a && b && c are those of (a && b) && c, or of a && (b && c). Values are known where all of them agree. */
#ifndef NTR_DECISION_GROUPS_H
#define NTR_DECISION_GROUPS_H

#include "decision/record.h"

/* Operands of a chain of && or of ||: the conditions `first` to `last` below the node `top`. */
typedef struct ntr_group {
    uint8_t top, first, last;
} ntr_group;

enum { NTR_GROUPED_MAX = 9 }; /* conditions of a decision that is compared */
enum { NTR_GROUPINGS_MAX = 8 };

typedef struct ntr_grouping {
    size_t count;        /* 0: conditions are not grouped */
    size_t alternatives; /* what the groups may be */
    ntr_group groups[NTR_GROUPINGS_MAX][NTR_GROUPED_MAX];
    int16_t next[NTR_GROUPED_MAX][2]; /* as of ntr_condition_flow, with numbers of groups */
} ntr_grouping;

/* A decision of which the conditions are the groups of another one. */
typedef struct ntr_grouped_record {
    ntr_decision_record record;
    ntr_condition conditions[NTR_CONDITIONS_MAX];
    ntr_condition_flow flow[NTR_CONDITIONS_MAX];
    ntr_expression tree[NTR_NODES_MAX];
} ntr_grouped_record;

/* Makes the decision without the borders of `joined`: bit I is the one between the conditions I and I + 1. Returns
 * whether these are operands of one chain. */
bool ntr_grouping_make(const ntr_decision_record *record, uint32_t joined, ntr_grouping *grouping,
                       ntr_grouped_record *grouped);

/* Adds the groups of another one as an alternative, if their flow is the same. Returns whether it is. */
bool ntr_grouping_add(ntr_grouping *grouping, const ntr_grouping *other);

/* Stores the value of a group for a value of the operand that all of its conditions compare with constants. Returns
 * false when they do not, or it is a group of constants. */
bool ntr_group_value(const ntr_decision_record *record, const ntr_group *group, int64_t operand, bool *value);

/* Stores the values of the conditions in one evaluation. Returns false when those of the groups leave several
 * possibilities. */
bool ntr_grouping_expand(const ntr_decision_record *record, const ntr_grouping *grouping, const char *of_groups,
                         char *values);

/* The same with the operands of groups. `known`: bit I is the group I. */
bool ntr_grouping_expand_with(const ntr_decision_record *record, const ntr_grouping *grouping, const char *of_groups,
                              const int64_t *operands, uint32_t known, char *values);

#endif
