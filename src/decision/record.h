/* Decisions as they are kept while sources are parsed, code is matched and events are counted.
 *
 * A decision is a graph of its conditions: the value of a condition leads to the next one that is evaluated, or to the
 * result. Example: (a && b) || c has the conditions 0, 1, 2; 0 leads to 1 when true and to 2 when false; 1 to the
 * result true and to 2; 2 to the results true and false. */
#ifndef NTR_DECISION_RECORD_H
#define NTR_DECISION_RECORD_H

#include "analysis/texts.h"

#include <ntrace/decision.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- Conditions that are ?:, each operand of which is tested in C without optimization: b ? c : d. Operands that are
 * && or || are decisions of their own. gcc tests their values; clang has no other branches for them, and each outcome
 * that decides such an operand is the value of the condition: in x && (b ? (c || d) : e), the branches of c and d also
 * evaluate the second condition. They are its parts. */

enum { NTR_TESTED_MAX = 6 };

/* The operands, with those of ?: that is an operand in place of it. */
typedef struct ntr_tested {
    uint8_t count; /* NTR_TESTED_MAX + 1: more */
    bool logical[NTR_TESTED_MAX]; /* they are && or || */
    uint32_t order[NTR_TESTED_MAX]; /* as that of a condition */
} ntr_tested;

/* ---- Conditions that compare an operand with a constant: c >= '0', mode == 2, !flags, p != NULL.
 *
 * The value of such a condition is a function of the value of its operand, in the arithmetic of C. Conditions of one
 * operand can be computed together, and the code that does so can be compared with this function (match_operand.c). */

/* An integer type, or that of a pointer. */
typedef struct ntr_integer_type {
    uint8_t size; /* in bytes: 1, 2, 4 or 8 */
    bool is_signed;
} ntr_integer_type;

enum ntr_relation { NTR_EQUAL, NTR_NOT_EQUAL, NTR_LESS, NTR_LESS_EQUAL, NTR_GREATER, NTR_GREATER_EQUAL };

typedef struct ntr_compared {
    uint64_t operand;        /* hash of the expression: equal for equal expressions; 0: it is no such condition */
    ntr_integer_type type;   /* of the operand */
    ntr_integer_type common; /* in which it is compared */
    uint8_t relation;        /* ntr_relation: operand RELATION constant */
    int64_t constant;        /* a value of the common type */
} ntr_compared;

/* Returns the value that has the low bits of `bits` in a type. */
int64_t ntr_integer_of(ntr_integer_type type, uint64_t bits);

/* Returns the value of the condition for a value of its operand. */
bool ntr_compared_value(const ntr_compared *compared, int64_t operand);

/* ---- How often a decision is evaluated, by the source alone: a sum of entries of the function, results of other
 * decisions, evaluations of decisions and of conditions, and executions of calls.
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

/* Values of `next`, beside numbers of conditions. */
enum { NTR_RESULT_FALSE = -1, NTR_RESULT_TRUE = -2 };

/* A range of the source, as the line table of a compiler sees it: macros at the place of their expansion. The end is
 * exclusive. */
typedef struct ntr_extent {
    uint32_t line, column, end_line, end_column;
} ntr_extent;

static inline bool ntr_extent_has(const ntr_extent *extent, uint32_t line, uint32_t column) {
    if (line < extent->line || (line == extent->line && column < extent->column)) return false;
    return line < extent->end_line || (line == extent->end_line && column < extent->end_column);
}

static inline bool ntr_extent_equal(const ntr_extent *a, const ntr_extent *b) {
    return a->line == b->line && a->column == b->column && a->end_line == b->end_line && a->end_column == b->end_column;
}

/* Whether the code of one result goes on with that of the other one: of an `if` without `else` that contains no jumps.
 */
enum ntr_falls { NTR_FALLS_NOT, NTR_FALLS_TRUE, NTR_FALLS_FALSE };

enum ntr_operator { NTR_LEAF, NTR_AND, NTR_OR, NTR_NOT };

/* A node of the expression tree. Leaves are conditions. */
typedef struct ntr_expression {
    uint8_t operator;
    uint8_t condition;    /* leaf: its number */
    uint8_t left, right;  /* indexes of operands; NTR_NOT: left */
} ntr_expression;

typedef struct ntr_condition_flow {
    int16_t next[2];       /* when false, when true */
    ntr_extent extent;
    uint32_t order; /* position in the order in which a compiler that does not optimize lays out the branches */
    bool choice; /* it is a ?: */
    ntr_tested tested; /* ... its operands */
    bool calls; /* it calls a function */
    bool converts; /* ... that converts an object (operator bool) and has no place of its own in the source */
    uint64_t names; /* what it reads: a set of hashes of names of variables and members */
    ntr_compared compared; /* its operand, if it compares one with a constant */
    uint32_t operator_line,
        operator_column; /* of the && or || before it of which it begins the right operand; 0: none */
} ntr_condition_flow;

typedef struct ntr_decision_record {
    ntr_decision shown;
    ntr_condition *conditions;
    ntr_condition_flow *flow;
    ntr_expression *tree;
    uint8_t tree_count, root; /* nodes of the tree, and its root */
    int16_t start; /* the first condition that is evaluated (not a constant) */
    ntr_extent extent; /* where the line table may place its branches */
    ntr_extent whole; /* the largest expression around it, with its declaration or keyword */
    ntr_extent point; /* a further place: the keyword of a loop; line 0: none */
    ntr_extent body_end; /* do: where clang tests the result: the last brace, or the expression that is the body; line
                            0: none */
    ntr_extent when[2]; /* code that is executed when the decision is false, true; line 0: not known */
    const char *called[2]; /* the function, if this code is one call of it and nothing else; NULL: it is not */
    ntr_extent
        rest; /* further code that is executed when the decision is `rest_when`, and else not before the decision */
    bool rest_when; /* ... is evaluated again; line 0: not known */
    uint8_t falls; /* ntr_falls: the result of which the code goes on so */
    bool repeats; /* the code of the result true is also executed before the first evaluation: do */
    uint32_t order; /* of its last condition */
    uint32_t id; /* in terms of flows */
    ntr_flow_count *expected; /* how often it is evaluated; NULL: not known */
    const char *path; /* resolved path of its file */
    const char *group; /* of decisions that are matched together: `path`, or one function of a file that is included
                          several times */
    uint32_t function_line; /* of the name of its function */
    ntr_vector *vectors;
    size_t vector_count, vector_capacity;
    bool has_code, undetermined;
    bool incomplete; /* of some evaluations only the result is known */
    bool results[2]; /* their results: false and true were seen */
    bool too_large; /* it has more conditions than can be evaluated */
    bool lost; /* a copy of its code does not show the last condition */
    bool is_value; /* its result is stored or passed on; it does not control a statement or ?: */
    bool direct; /* its result is returned or stored as it is */
    bool chooses; /* it controls ?: of two constants */
    bool loop; /* it controls while, do or for */
    bool unused; /* its result is not used at all */
    uint32_t truth_of; /* id of the decision with a condition of which it is the value, maybe negated; 0: none */
    uint8_t truth_condition; /* that condition */
    uint32_t part_of; /* id of the decision with a condition ?: of which it is an operand; 0: none */
    uint8_t part_condition; /* that condition */
    bool part_negated; /* ... has the inverse of its value */
} ntr_decision_record;

/* A decision that is being parsed. */
enum { NTR_NODES_MAX = 4 * NTR_CONDITIONS_MAX };
typedef struct ntr_decision_draft {
    ntr_decision_record record;
    ntr_condition conditions[NTR_CONDITIONS_MAX];
    ntr_condition_flow flow[NTR_CONDITIONS_MAX];
    ntr_expression tree[NTR_NODES_MAX];
    ntr_flow_count expected;
    bool too_large;
} ntr_decision_draft;

/* A statement that executes one call, and always (operands.c). Its call counts how often it is executed. */
typedef struct ntr_call_site {
    const char *path; /* resolved */
    ntr_extent extent; /* of the statement */
    uint32_t id; /* in terms of flows */
} ntr_call_site;

/* A file with decisions, and the unit with which it was parsed. */
typedef struct ntr_parsed_file {
    const char *path;
    size_t unit;
} ntr_parsed_file;

/* The name of a group of one function is PATH NTR_GROUP_MARK FUNCTION. It is sorted directly behind PATH. */
#define NTR_GROUP_MARK "\1"

struct ntr_decisions {
    const ntr_allocator *allocator;
    ntr_texts texts;
    ntr_decision_record **records; /* sorted by (path, line, column) when `sorted` */
    size_t count, capacity;
    ntr_decision *list;
    char **unparsed;
    size_t unparsed_count, unparsed_capacity;
    size_t failed; /* of them: the source is there */
    const char **units; /* main files of the units that were parsed, or that cannot be */
    size_t unit_count, unit_capacity;
    ntr_call_site *calls; /* sorted by (path, line, column) when `sorted` */
    size_t call_count, call_capacity;
    ntr_parsed_file *files;
    size_t file_count, file_capacity;
    struct ntr_code_map *map; /* of the current run */
    struct ntr_tracker *tracker;
    uint64_t runs;
    uint32_t last_id;
    char parser[100];
    char error[400];
};

/* Adds a copy of a decision of the unit that is being parsed (the last of `units`). A file that an earlier unit has
 * included is left out. Errors: NTR_E_MEMORY. */
ntr_status ntr_decisions_add(ntr_decisions *decisions, const ntr_decision_draft *draft);
/* Adds a statement with a call, in the same way. Errors: NTR_E_MEMORY. */
ntr_status ntr_decisions_add_call(ntr_decisions *decisions, const ntr_call_site *call);
void ntr_record_free(const ntr_allocator *allocator, ntr_decision_record *record);

/* Sorts the records and the calls. Records of a file that is included several times, with other names of its functions
 * each time, get a group for each function. Errors: NTR_E_MEMORY. */
ntr_status ntr_decisions_sort(ntr_decisions *decisions);
/* Returns the name of the group of a function, without the suffix that a compiler adds to the names of copies, or NULL
 * when out of memory. */
const char *ntr_decisions_group(ntr_decisions *decisions, const char *path, const char *function);
/* Returns the statement with a call around a place, or NULL. */
const ntr_call_site *ntr_decisions_call_at(const ntr_decisions *decisions, const char *path, uint32_t line,
                                           uint32_t column);

/* Adds `count` evaluations with these values to a list of vectors. Errors: NTR_E_MEMORY. */
ntr_status ntr_vectors_add(const ntr_allocator *allocator, ntr_vector **vectors, size_t *vector_count, size_t *capacity,
                           const ntr_vector *vector);

/* Computes flow, start and constants from the tree. */
void ntr_record_flow(ntr_decision_record *record);

/* Returns the set of conditions that can be evaluated. Constants, and what they skip, are not: in 0 && a || b that is b
 * alone. */
uint64_t ntr_record_evaluated(const ntr_decision_record *record);

/* Computes pairs and states from the vectors. */
void ntr_record_states(ntr_decision_record *record);

#endif
