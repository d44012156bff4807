#include "decision/walk.h"

#include "base/allocator.h"

#include <string.h>

enum { EXPRESSION_TEXT_MAX = 240 };

static bool is_word(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Keeps the text between two places in one line: blanks and line ends are joined. A macro that spans the range is given
 * by its own text. */
static const char *text_between(ntr_unit_walk *w, const ntr_cursor_place *begin, const ntr_cursor_place *end) {
    char line[EXPRESSION_TEXT_MAX + 4];
    size_t size, used = 0;
    const char *text = ntr_cursor_text(w, begin->file, &size);
    size_t from = begin->offset, to = end->offset;
    if (!text || end->file != begin->file) to = from;
    if (to <= from)
        for (to = from; text && to < size && is_word(text[to]);) to++;
    for (size_t i = from; text && i < to && i < size && used < EXPRESSION_TEXT_MAX; i++) {
        bool blank = text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r' || text[i] == '\\';
        if (!blank)
            line[used++] = text[i];
        else if (used && line[used - 1] != ' ')
            line[used++] = ' ';
    }
    if (used == EXPRESSION_TEXT_MAX) memcpy(line + used, "...", 3), used += 3;
    line[used] = '\0';
    return ntr_texts_keep(&w->decisions->texts, line);
}

static ntr_source_place spelled_place(ntr_unit_walk *w, const ntr_cursor_place *place) {
    const char *path = place->spelled_file ? ntr_walk_path(w, place->spelled_file) : NULL;
    return (ntr_source_place){path, place->spelled_line, place->spelled_column};
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static unsigned add_node(ntr_decision_draft *d, ntr_expression node) {
    if (d->record.tree_count >= NTR_NODES_MAX - 1) {
        d->too_large = true;
        return 0;
    }
    d->tree[d->record.tree_count] = node;
    return d->record.tree_count++;
}

/* Nested decisions are visited first: their branches come before that of the condition. */
static unsigned add_leaf(ntr_unit_walk *w, ntr_decision_draft *d, CXCursor cursor) {
    if (d->record.shown.condition_count) w->now = ntr_flow_of(d->record.id, (int)d->record.shown.condition_count);
    size_t number = d->record.shown.condition_count;
    w->truth_of = ntr_cursor_truth(w, cursor, &w->truth) ? d->record.id : 0;
    w->truth_condition = (uint8_t)number;
    ntr_choice_walk *outer = w->choice, choice = {.id = d->record.id, .condition = (uint8_t)number};
    choice.choice = ntr_cursor_operand(w, cursor, &choice.negated);
    w->choice = &choice;
    w->walk(w, cursor, w->depth + 1);
    w->choice = outer;
    if (number >= NTR_CONDITIONS_MAX) {
        d->too_large = true;
        return 0;
    }
    d->record.shown.condition_count++;
    ntr_condition *c = &d->conditions[number];
    ntr_cursor_place begin = ntr_cursor_begin(w, cursor), end = ntr_cursor_end(w, cursor);
    *c = (ntr_condition){.line = begin.line,
                         .column = begin.column,
                         .spelled = spelled_place(w, &begin),
                         .text = text_between(w, &begin, &end)};
    int64_t value = 0;
    c->constant = ntr_cursor_constant(w, cursor, &value);
    c->value = value != 0;
    d->flow[number] = (ntr_condition_flow){.extent = ntr_cursor_extent(w, cursor),
                                           .order = w->order++,
                                           .choice = ntr_cursor_is_choice(w, cursor),
                                           .tested = choice.tested};
    ntr_cursor_operands(w, cursor, &d->flow[number]);
    ntr_cursor_compared(w, cursor, &d->flow[number].compared);
    return add_node(d, (ntr_expression){.operator= NTR_LEAF, .condition = (uint8_t)number});
}

/* Stores the place of the operator between two operands, if it is not in a macro. */
static void find_operator(const ntr_unit_walk *w, CXCursor left, CXCursor right, char sign, ntr_condition_flow *flow) {
    ntr_cursor_place from = ntr_cursor_end(w, left), to = ntr_cursor_begin(w, right);
    size_t size;
    const char *text = ntr_cursor_text(w, from.file, &size);
    uint32_t line = from.line, column = from.column;
    if (from.file != to.file) return;
    for (size_t i = from.offset; text && i + 1 < size && i < to.offset; i++, column++) {
        if (text[i] == sign && text[i + 1] == sign) {
            flow->operator_line = line;
            flow->operator_column = column;
            return;
        }
        if (text[i] == '\n') line++, column = 0;
    }
}

static unsigned add_tree(ntr_unit_walk *w, ntr_decision_draft *d, CXCursor cursor);

static unsigned add_logical(ntr_unit_walk *w, ntr_decision_draft *d, CXCursor cursor) {
    ntr_cursors operands = ntr_cursor_children(w, cursor);
    unsigned node = 0;
    if (operands.count == 2) {
        bool and = w->clang->getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_LAnd;
        unsigned left = add_tree(w, d, operands.items[0]);
        size_t first = d->record.shown.condition_count; /* the first condition of the right operand */
        unsigned right = add_tree(w, d, operands.items[1]);
        if (first < NTR_CONDITIONS_MAX)
            find_operator(w, operands.items[0], operands.items[1], and? '&' : '|', &d->flow[first]);
        node = add_node(d, (ntr_expression){and? NTR_AND : NTR_OR, 0, (uint8_t)left, (uint8_t)right});
    } else {
        d->too_large = true; /* an error of the parser */
    }
    ntr_cursors_release(w, &operands);
    return node;
}

static unsigned add_tree(ntr_unit_walk *w, ntr_decision_draft *d, CXCursor cursor) {
    bool negated = false;
    CXCursor inner = ntr_cursor_strip_not(w, cursor, &negated);
    if (!ntr_cursor_is_logical(w, inner)) return add_leaf(w, d, cursor);
    unsigned node = add_logical(w, d, inner);
    return negated ? add_node(d, (ntr_expression){NTR_NOT, 0, (uint8_t)node, (uint8_t)node}) : node;
}

/* ---- the decision ------------------------------------------------------------------------------ */

/* Returns where clang places the test of a result that follows the body of a loop. It has no place for that of a macro.
 */
static ntr_extent end_of_body(ntr_unit_walk *w, CXCursor body) {
    const ntr_cursor_place end = ntr_cursor_end(w, body);
    const enum CXCursorKind kind = w->clang->getCursorKind(body);
    size_t size;
    const char *text = ntr_cursor_text(w, end.file, &size);
    if (kind == CXCursor_CompoundStmt && text && end.offset && end.offset <= size && text[end.offset - 1] == '}')
        return (ntr_extent){end.line, end.column - 1, end.line, end.column};
    const bool expression = kind >= CXCursor_FirstExpr && kind <= CXCursor_LastExpr;
    if (expression && !ntr_cursor_is_logical(w, ntr_cursor_strip(w, body, true)) && !ntr_cursor_is_choice(w, body))
        return ntr_cursor_extent(w, body);
    return (ntr_extent){0};
}

static void set_control(ntr_unit_walk *w, ntr_decision_record *r, const ntr_control *control, bool negated) {
    if (control->statement) {
        ntr_extent statement = ntr_cursor_extent(w, *control->statement);
        if (control->keyword_before && !control->until) {
            r->extent.line = statement.line;
            r->extent.column = statement.column;
        } else if (control->loop) {
            r->point = (ntr_extent){statement.line, statement.column, statement.line, statement.column + 1};
        }
    }
    r->chooses = control->constants;
    if (control->until) {
        ntr_cursor_place until = ntr_cursor_begin(w, *control->until);
        if (until.line > r->extent.end_line ||
            (until.line == r->extent.end_line && until.column > r->extent.end_column)) {
            r->extent.end_line = until.line;
            r->extent.end_column = until.column;
        }
    }
    for (unsigned value = 0; value < 2; value++) {
        if (!control->when[value]) continue;
        r->when[value ^ negated] = ntr_cursor_extent(w, *control->when[value]);
        r->called[value ^ negated] = ntr_cursor_called(w, *control->when[value]);
    }
    if (control->rest) r->rest = *control->rest;
    r->rest_when = control->rest_when ^ negated;
    if (control->falls) r->falls = negated ? NTR_FALLS_FALSE : NTR_FALLS_TRUE;
    r->repeats = control->repeats;
    if (control->body) r->body_end = end_of_body(w, *control->body);
}

static void place_decision(ntr_unit_walk *w, ntr_decision_draft *d, CXCursor cursor) {
    ntr_cursor_place begin = ntr_cursor_begin(w, cursor), end = ntr_cursor_end(w, cursor);
    ntr_decision_record *r = &d->record;
    r->path = r->group = ntr_cursor_path(w, cursor);
    r->extent = ntr_cursor_extent(w, cursor);
    r->shown.line = begin.line;
    r->shown.column = begin.column;
    r->shown.end_line = r->extent.end_line;
    r->shown.end_column = r->extent.end_column - 1;
    r->shown.spelled = spelled_place(w, &begin);
    r->shown.text = text_between(w, &begin, &end);
    r->shown.file = r->path;
    r->shown.function = w->function;
    r->function_line = w->function_line;
    r->whole = w->whole;
}

static ntr_draft_result finish(ntr_unit_walk *w, ntr_decision_draft *d) {
    ntr_decision_record *r = &d->record;
    r->conditions = d->conditions;
    r->flow = d->flow;
    r->tree = d->tree;
    if (d->too_large) {
        r->start = 0;
        r->shown.reason = "it has more than 32 conditions";
        r->undetermined = r->too_large = true;
    } else {
        ntr_record_flow(r);
    }
    if (r->start < 0) return r->start == NTR_RESULT_TRUE ? NTR_DRAFT_TRUE : NTR_DRAFT_FALSE;
    if (!r->path || !r->shown.condition_count || w->status) return NTR_DRAFT_LEFT_OUT;
    w->status = ntr_decisions_add(w->decisions, d);
    return NTR_DRAFT_ADDED;
}

ntr_draft_result ntr_draft_add(ntr_unit_walk *w, CXCursor cursor, const ntr_control *control, bool negated,
                               unsigned depth) {
    ntr_decision_draft *d = ntr_alloc(w->decisions->allocator, 1, sizeof *d);
    const unsigned outer = w->depth;
    if (!d) {
        w->status = NTR_E_MEMORY;
        return NTR_DRAFT_LEFT_OUT;
    }
    d->expected = w->now;
    d->record.id = control ? control->id : ++w->decisions->last_id;
    d->record.shown.kind = ntr_cursor_is_logical(w, cursor) ? NTR_DECISION_LOGICAL : NTR_DECISION_SINGLE;
    if (w->truth_of && w->clang->equalCursors(w->truth, cursor)) {
        d->record.truth_of = w->truth_of;
        d->record.truth_condition = w->truth_condition;
    }
    if (w->choice && w->clang->equalCursors(w->choice->logical, cursor)) {
        d->record.part_of = w->choice->id;
        d->record.part_condition = w->choice->condition;
        d->record.part_negated = w->choice->negated;
    }
    d->record.unused = w->unused && !control;
    d->record.direct = w->direct && !control;
    w->unused = w->direct = false;
    w->depth = depth;
    d->record.root = (uint8_t)add_tree(w, d, cursor);
    w->depth = outer;
    w->now = d->expected;
    place_decision(w, d, cursor);
    d->record.is_value = !control;
    d->record.loop = control && control->loop;
    if (control) set_control(w, &d->record, control, negated);
    d->record.order = w->order;
    ntr_draft_result result = finish(w, d);
    if (result == NTR_DRAFT_ADDED && !control) w->now = ntr_flow_restart(&w->now, d->record.id, NTR_FLOW_EVALUATED);
    ntr_dealloc(w->decisions->allocator, d);
    if (negated && (result == NTR_DRAFT_FALSE || result == NTR_DRAFT_TRUE))
        return result == NTR_DRAFT_TRUE ? NTR_DRAFT_FALSE : NTR_DRAFT_TRUE;
    return result;
}
