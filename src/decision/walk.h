/* Walks the syntax tree of a unit. Children are visited in the order in which a compiler that does not optimize lays
 * out their code: the condition of a loop comes after its body (`order` of a decision). */
#ifndef NTR_DECISION_WALK_H
#define NTR_DECISION_WALK_H

#include "decision/cursor.h"

/* ---- Makes a decision of an expression. */

/* The statement, or ?:, that a decision controls. Members may be NULL. */
typedef struct ntr_control {
    const CXCursor *statement;
    bool keyword_before;  /* the keyword is directly before the condition: if, while */
    bool loop;
    uint32_t id;          /* of the decision */
    const CXCursor *until; /* ?: the last operand; compilers place the branch at `?` or `:` */
    bool constants; /* ?: both operands are constants */
    const CXCursor *when[2]; /* what is executed when the condition is false, true */
    const ntr_extent
        *rest;  /* what is executed after the statement when the condition is `rest_when`, and otherwise skipped */
    bool rest_when;
    bool falls;              /* the code of the result true goes on with that of the result false (record.h) */
    bool repeats;            /* do */
    const CXCursor *body;    /* of do; else NULL */
} ntr_control;

/* What became of an expression. */
typedef enum ntr_draft_result { NTR_DRAFT_ADDED, NTR_DRAFT_FALSE, NTR_DRAFT_TRUE, NTR_DRAFT_LEFT_OUT } ntr_draft_result;

/* Visits the inside of the conditions and adds a decision: `cursor` is && or ||, or the single condition of `control`.
 * With `negated`, the control uses the inverse of its value. Constant decisions are not added. It is evaluated
 * w->now times. Errors are stored in w->status. */
ntr_draft_result ntr_draft_add(ntr_unit_walk *w, CXCursor cursor, const ntr_control *control, bool negated,
                               unsigned depth);

/* Visits a cursor and adds the decisions in it. Errors are stored in w->status. */
void ntr_walk(ntr_unit_walk *w, CXCursor cursor, unsigned depth);
void ntr_walk_all(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth);

/* Statements with a condition (walk.c). `expression`: it is ?:. */
void ntr_walk_if(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children, unsigned depth, bool expression);
/* while, do and for. `body` and `condition` are indexes of children. */
void ntr_walk_loop(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children, size_t body, size_t condition,
                   bool keyword_before, unsigned depth);
void ntr_walk_for(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children, unsigned depth);
void ntr_walk_switch(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children, unsigned depth);
/* for (auto x : range): how often its body is executed is not known. */
void ntr_walk_range(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth);
/* try and its handlers. */
void ntr_walk_try(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth);
/* Counts what follows a statement of a block by its call, if it executes one, and always (operands.c). */
void ntr_walk_call(ntr_unit_walk *w, CXCursor statement);
/* Control leaves through break, continue, return, goto or throw. */
void ntr_walk_jump(ntr_unit_walk *w, enum CXCursorKind kind);

/* ---- code after a statement (walk.c) ---- */

/* Returns what follows item `at` of a block; after its last one, that is what follows the block. */
ntr_rest ntr_rest_in_block(const ntr_unit_walk *w, const ntr_cursors *items, size_t at, const ntr_rest *block);
/* Returns what follows the body of a loop: its head. */
ntr_rest ntr_rest_of_loop(const ntr_unit_walk *w, const ntr_cursors *children, size_t body, size_t condition);
/* The same of a loop without a condition: the first statement of its body. */
ntr_rest ntr_rest_of_endless(ntr_unit_walk *w, CXCursor body);
/* Returns whether a statement contains a jump that leaves it and stays in the function, or a place to which one leads.
 */
bool ntr_rest_jumps(ntr_unit_walk *w, CXCursor statement);
/* Returns whether `rest` is skipped by one branch of `if` and not by the other. Stores the value of the condition with
 * which it is executed. `otherwise` may be NULL. */
bool ntr_rest_depends(ntr_unit_walk *w, CXCursor then, const CXCursor *otherwise, const ntr_rest *rest, bool *when);

#endif
