/* Searches: places by what a user types, and functions by a part of their name. */
#include "explore/state.h"

#include "analysis/functions.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESSES_MOST = 1024 };

static int by_value(const void *left, const void *right) {
    const uint64_t *x = left, *y = right;
    return NTR_COMPARE(*x, *y);
}

/* ---- what a text stands for */

/* Returns whether `wanted` is the path, or the end of it after a '/'. */
static bool names_file(const char *file, const char *wanted, size_t size) {
    const size_t length = file ? strlen(file) : 0;
    if (length < size || memcmp(file + length - size, wanted, size) != 0) return false;
    return length == size || file[length - size - 1] == '/';
}

static size_t add_rows(ntr_explorer *x, const char *file, size_t size, uint64_t line, bool statements,
                       uint64_t *addresses) {
    const ntr_line_row *rows;
    size_t count, found = 0;
    for (size_t image = 0; ntr_debug_info_lines(x->config.debug, image, &rows, &count) == NTR_OK; image++)
        for (size_t i = 0; i < count && found < ADDRESSES_MOST; i++)
            if (rows[i].line == line && rows[i].is_statement >= statements && names_file(rows[i].file, file, size))
                addresses[found++] = rows[i].address;
    return found;
}

/* Adds the functions of the operating system that stand for a system call. */
static size_t add_syscall(ntr_explorer *x, const char *name, uint64_t *addresses) {
    const ntr_function *function;
    size_t found = 0;
    for (uint32_t i = 0; (function = ntr_functions_get(x->config.functions, i)); i++) {
        const ntr_role_info role = ntr_functions_role(x->config.functions, i);
        if (role.role == NTR_OS_SYSCALL && role.shown && strcmp(role.shown, name) == 0)
            found += ntr_find_functions(x->decoder.program, function->name, addresses + found, ADDRESSES_MOST - found);
    }
    return found;
}

/* Stores the sorted addresses that a function (*named), a system call, an address or FILE:LINE stands for. */
static size_t addresses_of(ntr_explorer *x, const char *text, uint64_t *addresses, bool *named) {
    static const char syscall[] = "syscall:";
    const char *colon = strrchr(text, ':');
    uint64_t number;
    size_t found = 0;
    *named = false;
    if (strncmp(text, syscall, strlen(syscall)) == 0) {
        found = add_syscall(x, text + strlen(syscall), addresses);
    } else if (colon && colon > text && colon[-1] != ':' &&
               ntr_parse_number(colon + 1, strlen(colon + 1), &number) == NTR_OK) {
        found = add_rows(x, text, (size_t)(colon - text), number, true, addresses);
        if (!found) found = add_rows(x, text, (size_t)(colon - text), number, false, addresses);
    } else if (strncmp(text, "0x", 2) == 0 && ntr_parse_number(text, strlen(text), &number) == NTR_OK) {
        if (!ntr_fit_address(ntr_program_xlen(x->decoder.program), &number)) return 0;
        addresses[found++] = number;
    } else {
        found = ntr_find_functions(x->decoder.program, text, addresses, ADDRESSES_MOST);
        *named = true;
    }
    if (found) qsort(addresses, found, sizeof *addresses, by_value);
    return found;
}

/* ---- places by number: #MESSAGE, @OFFSET, t:TIME, N%, or a position with its digits alone */

static ntr_status find_number(ntr_explorer *x, ntr_question *q, const char *text, bool *is_number, uint64_t *position) {
    const size_t length = strlen(text), skip = *text == '#' || *text == '@' ? 1 : strncmp(text, "t:", 2) == 0 ? 2 : 0;
    const bool percent = !skip && length > 1 && text[length - 1] == '%';
    uint64_t number, total;
    *is_number = false;
    if (!skip && !isdigit((unsigned char)*text)) return NTR_OK;
    if (!skip && strncmp(text, "0x", 2) == 0) return NTR_OK;
    if (ntr_parse_number(text + skip, length - skip - percent, &number) != NTR_OK)
        return skip || percent ? ntr_question_fail(q, "text: expected a number after #, @ or t:, or before %%")
                               : NTR_OK;
    *is_number = true;
    if (skip) {
        const ntr_unit unit = *text == '#' ? NTR_UNIT_MESSAGE : *text == '@' ? NTR_UNIT_OFFSET : NTR_UNIT_TIME;
        return ntr_replay_place(x->replay, unit, number, position);
    }
    *position = number;
    if (!percent) return NTR_OK;
    TRY(ntr_replay_total(x->replay, &total));
    *position = number >= 100 ? total : total / 100 * number + total % 100 * number / 100;
    return NTR_OK;
}

static void write_found(ntr_explorer *x, ntr_answer *a, bool found) {
    ntr_answer_bool(a, "found", found);
    if (!found) return;
    ntr_answer_number(a, "position", ntr_replay_position(x->replay));
    ntr_answer_number(a, "src", ntr_replay_current(x->replay));
}

/* The place where the user is does not count. */
static ntr_status search(ntr_explorer *x, ntr_question *q, ntr_replay_search *s) {
    ntr_replay_stop stop = {0};
    s->skip = !s->backward && ntr_question_has(q, "position");
    s->skipped = ntr_replay_position(x->replay);
    TRY(ntr_question_went(q, ntr_replay_find(x->replay, s, &stop)));
    if (stop.reason == NTR_REPLAY_INTERRUPTED) q->interrupted = true;
    const bool at_end = s->gaps && stop.reason == NTR_REPLAY_AT_END && stop.has_gap && !s->backward;
    write_found(x, q->answer, stop.reason == NTR_REPLAY_HIT || stop.reason == NTR_REPLAY_GAP || at_end);
    if (stop.has_gap) ntr_answer_gap(q->answer, "gap", ntr_replay_position(x->replay), &stop.gap);
    return NTR_OK;
}

ntr_status ntr_answer_find(ntr_explorer *x, ntr_question *q) {
    const char *text, *direction;
    uint64_t position, place = 0, *addresses;
    bool is_number, given, named = false;
    uint16_t src;
    TRY(ntr_question_text(q, "text", "", &text));
    TRY(ntr_question_text(q, "direction", "next", &direction));
    TRY(ntr_question_number(q, "position", 0, 0, UINT64_MAX, &position));
    ntr_replay_search s = {.backward = strcmp(direction, "previous") == 0, .gaps = strcmp(text, "gap") == 0};
    if (!s.backward && strcmp(direction, "next") != 0)
        return ntr_question_fail(q, "direction: expected next or previous");
    if (!*text)
        return ntr_question_fail(q, "text: expected a function, an address, FILE:LINE, syscall:NAME, #MESSAGE, "
                                    "@OFFSET, t:TIME, N%% or gap");
    TRY(ntr_question_hart(x, q, &src, &given));
    s.one_hart = given;
    s.src = src;
    ntr_status status = find_number(x, q, text, &is_number, &place);
    if (status == NTR_OK) status = ntr_replay_go(x->replay, is_number ? place : position);
    if (status == NTR_END) write_found(x, q->answer, false);
    TRY(ntr_question_went(q, status));
    if (q->interrupted) return NTR_OK;
    if (is_number) {
        write_found(x, q->answer, true);
        return NTR_OK;
    }
    addresses = ntr_alloc(x->allocator, ADDRESSES_MOST, sizeof *addresses);
    if (!addresses) return NTR_E_MEMORY;
    s.addresses = addresses;
    s.count = s.gaps ? 0 : addresses_of(x, text, addresses, &named);
    ntr_replay_set_function(x->replay, s.count && named ? text : NULL);
    status = s.count || s.gaps ? search(x, q, &s)
                               : ntr_question_fail(q, "text: no function, address, line or system call has this name");
    ntr_replay_set_function(x->replay, NULL);
    ntr_dealloc(x->allocator, addresses);
    return status;
}

/* ---- functions by a part of their name */

typedef struct name_match {
    const char *name;
    uint32_t function;
    uint8_t rank; /* 0: the whole name; 1: its beginning; 2: inside */
} name_match;

static int by_rank(const void *left, const void *right) {
    const name_match *x = left, *y = right;
    NTR_COMPARE_BY(rank);
    const int order = strcmp(x->name, y->name);
    return order ? order : NTR_COMPARE(x->function, y->function);
}

static bool begins(const char *name, const char *text) {
    for (; *text; name++, text++)
        if (tolower((unsigned char)*name) != tolower((unsigned char)*text)) return false;
    return true;
}

static bool rank_of(const char *name, const char *text, uint8_t *rank) {
    const size_t length = strlen(text);
    for (const char *at = name; *at; at++) {
        if (!begins(at, text)) continue;
        *rank = at != name ? 2 : name[length] ? 1 : 0;
        return true;
    }
    return false;
}

ntr_status ntr_answer_named(ntr_explorer *x, ntr_question *q) {
    const char *text;
    uint64_t limit;
    name_match *matches = NULL;
    size_t count = 0, capacity = 0;
    const ntr_function *function;
    TRY(ntr_question_text(q, "text", "", &text));
    TRY(ntr_question_number(q, "limit", 20, 1, NTR_ROWS_MOST, &limit));
    if (!x->index.complete) q->partial = true; /* functions that were not seen yet are missing */
    for (uint32_t i = 0; (function = ntr_functions_get(x->config.functions, i)); i++) {
        uint8_t rank;
        if (!rank_of(function->name, text, &rank)) continue;
        if (ntr_reserve(x->allocator, (void **)&matches, &capacity, count + 1, sizeof *matches)) {
            ntr_dealloc(x->allocator, matches);
            return NTR_E_MEMORY;
        }
        matches[count++] = (name_match){function->name, i, rank};
    }
    if (count) qsort(matches, count, sizeof *matches, by_rank);
    ntr_answer_open(q->answer, "names", '[');
    for (size_t i = 0; i < count && i < limit; i++) ntr_answer_function(q->answer, NULL, matches[i].function);
    ntr_answer_close(q->answer, ']');
    ntr_answer_number(q->answer, "left_out", count > limit ? count - limit : 0);
    ntr_dealloc(x->allocator, matches);
    return NTR_OK;
}
