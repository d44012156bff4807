/* Cursors of libclang: children, places, and expressions without parentheses and conversions. */
#ifndef NTR_DECISION_CURSOR_H
#define NTR_DECISION_CURSOR_H

#include <stdbool.h>

#include "decision/libclang.h"
#include "decision/record.h"

/* Code after a statement. */
typedef struct ntr_rest {
    ntr_extent extent; /* line 0: not known */
    bool is_head;      /* it is the head of the loop around the statement, to which `continue` leads */
} ntr_rest;

/* The operands of a condition that is ?:, while they are visited. */
typedef struct ntr_choice_walk {
    CXCursor choice, logical; /* the ?: that is visited next, and its operand && or || */
    bool negated; /* the value of the condition is the inverse of theirs */
    uint32_t id; /* of the decision */
    uint8_t condition;
    ntr_tested tested;
} ntr_choice_walk;

/* The walk through one unit. */
typedef struct ntr_unit_walk {
    void (*walk)(struct ntr_unit_walk *w, CXCursor cursor, unsigned depth); /* visits what is inside of a condition */
    unsigned depth;
    const ntr_libclang *clang;
    ntr_decisions *decisions;
    CXTranslationUnit unit;
    const char *const *only;
    size_t only_count;
    const char *function; /* the function that is visited */
    uint32_t function_line; /* of its name */
    CXFile last_file;     /* the last file of which the path was resolved, */
    const char *last_path;
    uint32_t order;
    ntr_extent whole;                /* the largest expression around what is visited; line 0: none */
    ntr_rest rest;                   /* what is executed after the statement that is visited */
    ntr_flow_count now;              /* how often the statement that is visited is executed */
    ntr_flow_count breaks, continues; /* of the loop or switch around it */
    CXCursor truth;                  /* the && or || of which the value is that of a condition, */
    uint32_t truth_of;               /* ... the id of its decision; 0: none, */
    uint8_t truth_condition;         /* ... and its number */
    ntr_choice_walk *choice;         /* the condition ?: that is visited; NULL: none */
    bool unused;                     /* the value of what is visited next is not used */
    bool direct;                     /* the value of what is visited next is returned or stored as it is */
    uint32_t jumps, continue_count;  /* number of return, goto and labels, and of continue, so far */
    bool too_deep;
    ntr_status status;
} ntr_unit_walk;

typedef struct ntr_cursors {
    CXCursor *items;
    size_t count, capacity;
} ntr_cursors;

/* A place: where a macro is expanded, and where the token is written. `line` and `column` are those that #line names,
 * of a file that it may name, too (ntr_cursor_path). */
typedef struct ntr_cursor_place {
    CXFile file, spelled_file;
    unsigned line, column, offset;
    unsigned spelled_line, spelled_column;
} ntr_cursor_place;

/* Returns the children. Sets w->status when out of memory. */
ntr_cursors ntr_cursor_children(ntr_unit_walk *w, CXCursor cursor);
void ntr_cursors_release(ntr_unit_walk *w, ntr_cursors *cursors);

ntr_cursor_place ntr_cursor_begin(const ntr_unit_walk *w, CXCursor cursor);
ntr_cursor_place ntr_cursor_end(const ntr_unit_walk *w, CXCursor cursor); /* exclusive */
ntr_extent ntr_cursor_extent(const ntr_unit_walk *w, CXCursor cursor);

/* Returns the cursor without parentheses and implicit conversions, and with `negations`, without `!` in front of && and
 * ||. */
CXCursor ntr_cursor_strip(ntr_unit_walk *w, CXCursor cursor, bool negations);
/* Returns the cursor without parentheses, and without `!` if && or || follows. Inverts *negated at each `!`. */
CXCursor ntr_cursor_strip_not(ntr_unit_walk *w, CXCursor cursor, bool *negated);
/* Stores the child of a cursor, if it has only one. */
bool ntr_cursor_inner(ntr_unit_walk *w, CXCursor cursor, CXCursor *child);
bool ntr_cursor_is_logical(const ntr_unit_walk *w, CXCursor cursor);
bool ntr_cursor_is_not(const ntr_unit_walk *w, CXCursor cursor);

/* Stores the && or || that is true exactly when the cursor is true, or exactly when it is false, and is not the cursor
 * in parentheses or negated: (a && b) != 0, __builtin_expect(a && b, 1), x = a && b. Returns whether there is one. */
bool ntr_cursor_truth(ntr_unit_walk *w, CXCursor cursor, CXCursor *logical);

/* Returns whether it is an expression that is converted to void. */
bool ntr_cursor_is_void_cast(const ntr_unit_walk *w, CXCursor cursor);
bool ntr_cursor_is_comma(const ntr_unit_walk *w, CXCursor cursor);

/* Returns whether it is ?:, in parentheses or converted. */
bool ntr_cursor_is_choice(ntr_unit_walk *w, CXCursor cursor);
/* Returns the cursor without parentheses and negations. Inverts *negated at each negation. */
CXCursor ntr_cursor_operand(ntr_unit_walk *w, CXCursor cursor, bool *negated);

/* Returns the index of the condition of a for statement among its children, or their number when there is none. */
size_t ntr_cursor_for_condition(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children);

/* Stores the value of a constant expression. Expressions with variables and calls are not constant. */
bool ntr_cursor_constant(ntr_unit_walk *w, CXCursor cursor, int64_t *value);

/* Returns the name of the function if a statement is one call of it, maybe in braces, or NULL. */
const char *ntr_cursor_called(ntr_unit_walk *w, CXCursor statement);

/* Stores the variables and members that a condition reads, and whether it calls (operands.c). */
void ntr_cursor_operands(const ntr_unit_walk *w, CXCursor cursor, ntr_condition_flow *flow);

/* Stores what a condition compares with a constant; `operand` is 0 if it is no such condition (operands.c). */
void ntr_cursor_compared(ntr_unit_walk *w, CXCursor cursor, ntr_compared *compared);

/* Returns the text of a file, or NULL. */
const char *ntr_cursor_text(const ntr_unit_walk *w, CXFile file, size_t *size);

/* Returns the resolved path of a file, kept in the texts of the decisions; NULL when out of memory. */
const char *ntr_walk_path(ntr_unit_walk *w, CXFile file);

/* Returns the resolved path of the file in which a cursor begins, or that #line names there; NULL: none, or out of
 * memory. */
const char *ntr_cursor_path(ntr_unit_walk *w, CXCursor cursor);

/* Returns whether a declaration is in a file that is selected and no system header. */
bool ntr_cursor_selected(ntr_unit_walk *w, CXCursor cursor);
void ntr_walk_enter_function(ntr_unit_walk *w, CXCursor cursor);

#endif
