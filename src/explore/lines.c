/* The instructions of each source line in a range: the lines with the most, or those of a file.
 *
 * Idea: a span is expanded to lines when it is seen first, and only counted afterwards. Spans with the same address,
 * number of instructions and view have the same lines. A range that is too long for one question is cut to a part
 * around a position; the answer says which. */
#include "explore/state.h"

#include "analysis/find_functions.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_IMAGES_MOST = 16 };

typedef struct counted_line {
    const char *file; /* NULL: no debug information */
    uint32_t line;
    uint64_t instructions;
} counted_line;

/* Instructions of one line in a span. */
typedef struct line_share {
    uint32_t line; /* index of the line */
    uint32_t instructions;
} line_share;

typedef struct counted_span {
    uint64_t address, view, times;
    uint32_t instructions;
    size_t first, count; /* shares */
} counted_span;

/* Indexes + 1 by hash; 0: empty. */
typedef struct line_slots {
    uint32_t *items;
    size_t count;
} line_slots;

typedef struct lines {
    ntr_explorer *x;
    uint64_t from, to;
    const char *file, *function; /* only these; "": all */
    bool whole_name; /* a symbol has the name `function`; else all whose name in the source it is are meant */
    counted_line *lines;
    size_t count, capacity;
    line_slots line_slots, span_slots;
    counted_span *spans;
    size_t span_count, span_capacity;
    line_share *shares;
    size_t share_count, share_capacity;
    size_t images[LINE_IMAGES_MOST]; /* that have code of `file` */
    size_t image_count;
    uint32_t origin; /* whose view is `view` */
    uint64_t view;
    bool has_view;
} lines;

/* ---- tables */

static uint64_t hash_line(const char *file, uint32_t line) {
    return ntr_hash_text(NTR_HASH_START ^ line, file ? file : "");
}

static uint64_t hash_span(const counted_span *span) {
    const uint64_t hash = (span->address ^ span->view << 48 ^ span->instructions) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Makes room for one more. *old: the slots are new and empty. */
static ntr_status grow(const lines *l, line_slots *slots, size_t used, bool *empty) {
    *empty = false;
    if (2 * (used + 1) <= slots->count) return NTR_OK;
    const size_t count = slots->count ? 2 * slots->count : 1024;
    uint32_t *items = ntr_alloc(l->x->allocator, count, sizeof *items);
    if (!items) return NTR_E_MEMORY;
    ntr_dealloc(l->x->allocator, slots->items);
    *slots = (line_slots){items, count};
    *empty = true;
    return NTR_OK;
}

static uint32_t *line_slot(const lines *l, const char *file, uint32_t line) {
    const size_t mask = l->line_slots.count - 1;
    size_t at = (size_t)hash_line(file, line) & mask;
    for (; l->line_slots.items[at]; at = (at + 1) & mask) {
        const counted_line *other = &l->lines[l->line_slots.items[at] - 1];
        if (other->line == line && (file && other->file ? strcmp(file, other->file) == 0 : file == other->file)) break;
    }
    return &l->line_slots.items[at];
}

/* Stores the index of the line, which is added if it is new. */
static ntr_status find_line(lines *l, const char *file, uint32_t line, uint32_t *index) {
    bool empty;
    TRY(grow(l, &l->line_slots, l->count, &empty));
    for (size_t i = 0; empty && i < l->count; i++) *line_slot(l, l->lines[i].file, l->lines[i].line) = (uint32_t)i + 1;
    uint32_t *slot = line_slot(l, file, line);
    if (!*slot) {
        if (ntr_reserve(l->x->allocator, (void **)&l->lines, &l->capacity, l->count + 1, sizeof *l->lines))
            return NTR_E_MEMORY;
        l->lines[l->count++] = (counted_line){.file = file, .line = line};
        *slot = (uint32_t)l->count;
    }
    *index = *slot - 1;
    return NTR_OK;
}

static uint32_t *span_slot(const lines *l, const counted_span *span) {
    const size_t mask = l->span_slots.count - 1;
    size_t at = (size_t)hash_span(span) & mask;
    for (; l->span_slots.items[at]; at = (at + 1) & mask) {
        const counted_span *other = &l->spans[l->span_slots.items[at] - 1];
        if (other->address == span->address && other->instructions == span->instructions && other->view == span->view)
            break;
    }
    return &l->span_slots.items[at];
}

/* ---- from addresses to lines */

static bool is_wanted(const lines *l, ntr_place place, const ntr_frame *frame) {
    if (*l->file && (!frame->file || strcmp(frame->file, l->file) != 0)) return false;
    if (!*l->function) return true;
    const ntr_functions *functions = l->x->config.functions;
    const ntr_function *function = ntr_functions_get(functions, ntr_functions_at(l->x->config.functions, place));
    if (function && !l->whole_name) return ntr_is_source_name(function->name, l->function);
    return function && strcmp(function->name, l->function) == 0;
}

/* Notes the image, whose lines that were not executed the answer has, too. */
static void note_image(lines *l, ntr_place place) {
    size_t image;
    if (!*l->file || ntr_program_image_at(l->x->decoder.program, place, &image) != NTR_OK) return;
    for (size_t i = 0; i < l->image_count; i++)
        if (l->images[i] == image) return;
    if (l->image_count < LINE_IMAGES_MOST) l->images[l->image_count++] = image;
}

/* Stores the index of the line at a place. *wanted: it belongs to the answer. */
static ntr_status line_at(lines *l, ntr_place place, uint32_t *index, bool *wanted) {
    ntr_frame frames[NTR_FRAMES_MAX];
    frames[0].file = NULL;
    if (!ntr_debug_info_frames(l->x->config.debug, place, frames, NTR_FRAMES_MAX) || !frames[0].line)
        frames[0].file = NULL;
    *wanted = is_wanted(l, place, &frames[0]);
    if (!*wanted) return NTR_OK;
    note_image(l, place);
    return find_line(l, frames[0].file, frames[0].file ? frames[0].line : 0, index);
}

/* Adds the shares of the lines in instructions [first, last) of the span, one after the other. */
static ntr_status expand(lines *l, const ntr_replay_window *w, const ntr_window_span *span, uint64_t first,
                         uint64_t last) {
    const ntr_span_origin *origin = &w->origins[span->origin];
    ntr_instruction instruction;
    const size_t begin = l->share_count;
    ntr_window_expand(l->x->replay, w, span);
    for (uint64_t i = 0; i < last && ntr_instructions_next(l->x->replay->instructions, &instruction) == NTR_OK; i++) {
        uint32_t index;
        bool wanted;
        if (i < first) continue;
        TRY(line_at(l, ntr_place_at(&origin->context, origin->offset, instruction.address), &index, &wanted));
        if (!wanted) continue;
        if (l->share_count > begin && l->shares[l->share_count - 1].line == index) {
            l->shares[l->share_count - 1].instructions++;
            continue;
        }
        if (ntr_reserve(l->x->allocator, (void **)&l->shares, &l->share_capacity, l->share_count + 1,
                        sizeof *l->shares))
            return NTR_E_MEMORY;
        l->shares[l->share_count++] = (line_share){index, 1};
    }
    return NTR_OK;
}

static void add_shares(lines *l, size_t first, size_t count, uint64_t times) {
    for (size_t i = first; i < first + count; i++)
        l->lines[l->shares[i].line].instructions += times * l->shares[i].instructions;
}

/* ---- counting */

static uint64_t view_of(lines *l, const ntr_replay_window *w, const ntr_window_span *span) {
    const ntr_span_origin *origin = &w->origins[span->origin];
    const ntr_event e = {.kind = NTR_EVENT_SPAN,
                         .src = span->src,
                         .offset = origin->offset,
                         .context = origin->context,
                         .address = span->address,
                         .instructions = span->instructions,
                         .halfwords = span->halfwords};
    if (l->has_view && l->origin == span->origin) return l->view;
    l->view = ntr_instructions_view(l->x->replay->instructions, &e);
    l->origin = span->origin;
    l->has_view = true;
    return l->view;
}

/* The part [first, last) of a span, which is counted by itself. */
static ntr_status count_part(lines *l, const ntr_replay_window *w, const ntr_window_span *span, uint64_t first,
                             uint64_t last) {
    const size_t begin = l->share_count;
    TRY(expand(l, w, span, first, last));
    add_shares(l, begin, l->share_count - begin, 1);
    l->share_count = begin;
    return NTR_OK;
}

static ntr_status count_span(lines *l, const ntr_replay_window *w, const ntr_window_span *span) {
    counted_span wanted = {
        .address = span->address, .view = view_of(l, w, span), .instructions = span->instructions, .times = 1};
    bool empty;
    if (!wanted.view) return NTR_E_MEMORY;
    TRY(grow(l, &l->span_slots, l->span_count, &empty));
    for (size_t i = 0; empty && i < l->span_count; i++) *span_slot(l, &l->spans[i]) = (uint32_t)i + 1;
    uint32_t *slot = span_slot(l, &wanted);
    if (*slot) {
        l->spans[*slot - 1].times++;
        return NTR_OK;
    }
    if (ntr_reserve(l->x->allocator, (void **)&l->spans, &l->span_capacity, l->span_count + 1, sizeof *l->spans))
        return NTR_E_MEMORY;
    wanted.first = l->share_count;
    TRY(expand(l, w, span, 0, span->instructions));
    wanted.count = l->share_count - wanted.first;
    l->spans[l->span_count++] = wanted;
    *slot = (uint32_t)l->span_count;
    return NTR_OK;
}

static ntr_status count_window(lines *l, const ntr_replay_window *w, uint64_t at) {
    l->has_view = false; /* origins are numbered by window */
    for (size_t i = ntr_window_find(w, at); i < w->span_count; i++) {
        const ntr_window_span *span = &w->spans[i];
        const uint64_t begin = w->first + span->first, end = begin + span->instructions;
        if (begin >= l->to) break;
        if (begin >= at && end <= l->to)
            TRY(count_span(l, w, span));
        else
            TRY(count_part(l, w, span, at > begin ? at - begin : 0, (end < l->to ? end : l->to) - begin));
    }
    return NTR_OK;
}

/* Returns NTR_END when interrupted; `to` is then where. */
static ntr_status count_range(lines *l) {
    ntr_status status = NTR_OK;
    for (uint64_t at = l->from; at < l->to;) {
        const ntr_replay_window *w = ntr_replay_window_at(l->x->replay, at, &status);
        if (status == NTR_END || (w && at > l->from && !ntr_replay_proceed(l->x->replay, &l->x->replay->stream))) {
            l->to = at;
            status = NTR_END;
            break;
        }
        if (!w) break;
        TRY(count_window(l, w, at));
        at = w->end;
    }
    if (status < 0) return status;
    for (size_t i = 0; i < l->span_count; i++) add_shares(l, l->spans[i].first, l->spans[i].count, l->spans[i].times);
    return status;
}

/* Notes the images with lines of the file when none of it was executed. Fails if no image has any. */
static ntr_status find_images(lines *l, ntr_question *q) {
    const ntr_line_row *rows;
    size_t count;
    ntr_status status;
    for (size_t image = 0; (status = ntr_debug_info_lines(l->x->config.debug, image, &rows, &count)) == NTR_OK; image++)
        for (size_t i = 0; i < count && l->image_count < LINE_IMAGES_MOST; i++)
            if (rows[i].file && strcmp(rows[i].file, l->file) == 0) {
                l->images[l->image_count++] = image;
                break;
            }
    if (status < 0) return status;
    return l->image_count ? NTR_OK : ntr_question_fail(q, "file: no debug information has lines of this path");
}

/* What was counted has no line: an error if the program has no such function or file. */
static ntr_status check_names(lines *l, ntr_question *q) {
    uint64_t entry;
    if (*l->function && !ntr_find_functions(l->x->decoder.program, l->function, &entry, 1))
        return ntr_question_fail(q, "function: no function has this name");
    return *l->file ? find_images(l, q) : NTR_OK;
}

/* The lines of the file that have code, and were not executed. */
static ntr_status add_others(lines *l) {
    for (size_t i = 0; i < l->image_count; i++) {
        const ntr_line_row *rows;
        size_t count;
        uint32_t index;
        const ntr_status status = ntr_debug_info_lines(l->x->config.debug, l->images[i], &rows, &count);
        if (status < 0) return status;
        for (size_t k = 0; status == NTR_OK && k < count; k++)
            if (rows[k].line && rows[k].size && strcmp(rows[k].file, l->file) == 0)
                TRY(find_line(l, rows[k].file, rows[k].line, &index));
    }
    return NTR_OK;
}

/* ---- the answer */

static int by_line(const void *left, const void *right) {
    const counted_line *x = left, *y = right;
    NTR_COMPARE_BY(line);
    return 0;
}

static int by_instructions(const void *left, const void *right) {
    const counted_line *x = left, *y = right;
    if (x->instructions != y->instructions) return x->instructions > y->instructions ? -1 : 1;
    const int order = x->file && y->file ? strcmp(x->file, y->file) : NTR_COMPARE(!!x->file, !!y->file);
    return order ? order : NTR_COMPARE(x->line, y->line);
}

static void write_lines(lines *l, ntr_answer *a, uint64_t limit) {
    uint64_t rows = 0, unknown = 0;
    if (l->count) qsort(l->lines, l->count, sizeof *l->lines, *l->file ? by_line : by_instructions);
    ntr_answer_number(a, "from", l->from);
    ntr_answer_number(a, "to", l->to);
    ntr_answer_open(a, "rows", '[');
    for (size_t i = 0; i < l->count; i++) {
        const counted_line *line = &l->lines[i];
        if (!line->file) unknown += line->instructions;
        if (!line->file || rows++ >= limit) continue;
        ntr_answer_open(a, NULL, '{');
        if (!*l->file) ntr_answer_exact(a, "file", line->file);
        ntr_answer_number(a, "line", line->line);
        ntr_answer_number(a, "instructions", line->instructions);
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
    ntr_answer_number(a, "left_out", rows > limit ? rows - limit : 0);
    ntr_answer_number(a, "unknown", unknown);
}

/* Cuts the range to what one question walks over. */
static void cut(lines *l, uint64_t position) {
    if (l->to - l->from <= NTR_LIVE_MOST) return;
    if (position < l->from) position = l->from;
    if (position > l->to) position = l->to;
    const uint64_t before = position - l->from < NTR_LIVE_MOST / 2 ? position - l->from : NTR_LIVE_MOST / 2;
    l->from = position - before;
    if (l->to - l->from < NTR_LIVE_MOST) l->from = l->to - NTR_LIVE_MOST;
    l->to = l->from + NTR_LIVE_MOST;
}

ntr_status ntr_answer_lines(ntr_explorer *x, ntr_question *q) {
    lines l = {.x = x};
    ntr_symbol symbol;
    uint64_t position, limit;
    TRY(ntr_question_range(x, q, &l.from, &l.to));
    TRY(ntr_question_number(q, "position", l.from, 0, UINT64_MAX, &position));
    TRY(ntr_question_text(q, "file", "", &l.file));
    TRY(ntr_question_text(q, "function", "", &l.function));
    l.whole_name = *l.function && ntr_program_find(x->decoder.program, l.function, &symbol) == NTR_OK;
    TRY(ntr_question_number(q, "limit", *l.file ? NTR_ROWS_MOST : 100, 1, NTR_ROWS_MOST, &limit));
    cut(&l, position);
    ntr_status status = ntr_question_went(q, count_range(&l));
    if (status == NTR_OK && !q->interrupted && !l.count) status = check_names(&l, q);
    if (status == NTR_OK && *l.file && !*l.function) status = add_others(&l);
    if (status == NTR_OK) write_lines(&l, q->answer, limit);
    void *blocks[] = {l.lines, l.spans, l.shares, l.line_slots.items, l.span_slots.items};
    for (size_t i = 0; i < NTR_COUNT(blocks); i++) ntr_dealloc(x->allocator, blocks[i]);
    return status;
}
