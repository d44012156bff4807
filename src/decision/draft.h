/* Makes a decision of an expression. */
#ifndef NTR_DECISION_DRAFT_H
#define NTR_DECISION_DRAFT_H

#include "decision/cursor.h"

/* The statement, or ?:, that a decision controls. Members may be NULL. */
typedef struct ntr_control {
    const CXCursor *statement;
    bool keyword_before;  /* the keyword is directly before the condition: if, while */
    bool loop;
    uint32_t id;          /* of the decision */
    const CXCursor *until; /* ?: the last operand; compilers place the branch at `?` or `:` */
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

#endif
