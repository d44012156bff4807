/* Walks the syntax tree of a unit. Children are visited in the order in which a compiler that does not optimize lays
 * out their code: the condition of a loop comes after its body (`order` of a decision). */
#ifndef NTR_DECISION_WALK_H
#define NTR_DECISION_WALK_H

#include "decision/cursor.h"

/* Visits a cursor and adds the decisions in it. Errors are stored in w->status. */
void ntr_walk(ntr_unit_walk *w, CXCursor cursor, unsigned depth);
void ntr_walk_all(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth);

/* Statements with a condition (walk_control.c). `expression`: it is ?:. */
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
/* Counts what follows a statement of a block by its call, if it executes one, and always (calls.c). */
void ntr_walk_call(ntr_unit_walk *w, CXCursor statement);
/* Control leaves through break, continue, return, goto or throw. */
void ntr_walk_jump(ntr_unit_walk *w, enum CXCursorKind kind);

/* ---- code after a statement (walk_rest.c) ---- */

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
