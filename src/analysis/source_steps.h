/* Where control comes to the jumps of a source (`break`, `continue`, `goto`, `return`), and to the end of a loop
 * without a condition, which is a jump too. A step is a part of the text from which control goes on in a certain way.
 * It lies inside of other ones or beside them. */
#ifndef NTR_ANALYSIS_SOURCE_STEPS_H
#define NTR_ANALYSIS_SOURCE_STEPS_H

#include "analysis/source_tokens.h"

#define NTR_SOURCE_STEP_NONE UINT32_MAX

typedef enum ntr_source_step_kind {
    NTR_SOURCE_STEP_NEXT,   /* a statement before another one, or a jump: control goes to `jump` or to other code */
    NTR_SOURCE_STEP_TEST,   /* the condition of `if`, which selects `jump` alone; control may go on after it */
    NTR_SOURCE_STEP_CHOICE, /* the same with `else`: control goes to `jump`, or to other code */
    NTR_SOURCE_STEP_LOOP,   /* the body of a loop: control goes to its head, by `jump` if the loop has no condition */
    NTR_SOURCE_STEP_SWITCH, /* the body of a switch: control goes on after it */
} ntr_source_step_kind;

typedef struct ntr_source_step {
    ntr_text_place begin, end;
    ntr_text_place jump; /* line 0: none */
    ntr_text_place next; /* the statement after it; line 0: not of this kind */
    ntr_source_step_kind kind;
    char way; /* the first character of the jump */
    uint32_t parent; /* the step around it */
} ntr_source_step;

typedef struct ntr_source_steps {
    ntr_source_step *items; /* those inside of a step are before it */
    uint32_t count;
    size_t capacity;
} ntr_source_steps;

typedef enum ntr_source_answer {
    NTR_SOURCE_NO,
    NTR_SOURCE_MAYBE, /* it depends on a condition, whose results both lead to one place */
    NTR_SOURCE_YES,
} ntr_source_answer;

/* Finds the steps of a body, whose `{` is the token number `body`. Free `items` with ntr_dealloc, also after an error.
 * Errors: NTR_E_SYNTAX (a statement that is not understood), NTR_E_LIMIT (nested too deeply, or too long),
 * NTR_E_MEMORY. */
ntr_status ntr_source_steps_find(ntr_source_steps *steps, const ntr_source_tokens *tokens, uint32_t body,
                                 const ntr_allocator *allocator);

/* Returns the number of the innermost step that contains a place. */
uint32_t ntr_source_steps_at(const ntr_source_steps *steps, ntr_text_place place);

/* Returns the jump whose line and text have a place, or a line of 0. The jump of a loop may be in the line of its head.
 */
ntr_text_place ntr_source_steps_jump(const ntr_source_steps *steps, ntr_text_place place);

/* Returns whether a way from a step to where a jump leads has come to that jump. */
ntr_source_answer ntr_source_steps_lead(const ntr_source_steps *steps, uint32_t from, ntr_text_place jump);

/* Returns the condition that selects a jump alone, without `else`, or NTR_SOURCE_STEP_NONE. */
uint32_t ntr_source_steps_test(const ntr_source_steps *steps, ntr_text_place jump);

#endif
