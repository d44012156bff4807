#include <ntrace/line_walk.h>

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* More addresses of one line are not searched for. */
enum { LINE_ADDRESSES = 256 };

static size_t depth_of(const ntr_line_walk *w) {
    ntr_stack_frame frame;
    size_t depth = 0;

    for (uint32_t number = w->hart.frame; ntr_replay_frame(w->replay, number, &frame, &number);) depth++;
    return depth;
}

void ntr_line_walk_arrive(ntr_line_walk *w) {
    ntr_frame frames[NTR_FRAMES_MAX];

    memset(&w->line, 0, sizeof w->line);
    if (ntr_replay_hart_at(w->replay, w->src, &w->hart) != NTR_OK) memset(&w->hart, 0, sizeof w->hart);
    if (w->hart.address_known &&
        ntr_debug_info_frames(w->debug, ntr_place_at(&w->hart.context, w->hart.offset, w->hart.address), frames,
                              NTR_FRAMES_MAX))
        w->line = frames[0];
    w->depth = depth_of(w);
    if (ntr_replay_gap(w->replay, &w->gap, &w->behind_gap) != NTR_OK) w->behind_gap = false;
}

/* ---- moves */

static bool go_to(ntr_line_walk *w, uint64_t position) {
    if (ntr_replay_go(w->replay, position) != NTR_OK) return false;
    ntr_line_walk_arrive(w);
    return true;
}

static bool move_one(ntr_line_walk *w, bool backward) {
    uint64_t position;
    bool found;
    ntr_status status = ntr_replay_neighbour(w->replay, w->src, backward, &position, &found);

    if (status != NTR_OK || (backward && !found)) return false;
    if (!backward && w->hart.ended) return false;
    return go_to(w, backward || !found ? position : position + 1);
}

/* Goes to the nearest execution of the address where the stack is not deeper than `depth`. */
static bool go_to_depth(ntr_line_walk *w, uint64_t address, size_t depth, bool backward) {
    const uint64_t before = ntr_replay_position(w->replay);
    ntr_replay_search search = {
        .addresses = &address, .count = 1, .backward = backward, .one_hart = true, .src = w->src};
    ntr_replay_stop stop;

    while (ntr_replay_find(w->replay, &search, &stop) == NTR_OK && stop.reason == NTR_REPLAY_HIT) {
        ntr_line_walk_arrive(w);
        if (w->depth <= depth) return true;
        search.skip = true;
        search.skipped = ntr_replay_position(w->replay);
    }
    go_to(w, before);
    return false;
}

/* Forward to behind the call of this frame; backward to the call. */
static bool finish(ntr_line_walk *w, bool backward) {
    ntr_stack_frame frame;
    uint32_t caller;

    if (!ntr_replay_frame(w->replay, w->hart.frame, &frame, &caller) || !caller) return false;
    return go_to_depth(w, backward ? frame.site : frame.return_to, w->depth - 1, backward);
}

static bool same_line(const ntr_frame *a, const ntr_frame *b) {
    if (!a->line || !b->line) return a->entry == b->entry && a->line == b->line;
    return a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* Moves to another line. With `over`, calls are gone over. Code without lines counts as one line for each function. */
static bool move_line(ntr_line_walk *w, bool over, bool backward) {
    const ntr_frame from = w->line;
    const size_t depth = w->depth;

    while (move_one(w, backward)) {
        if (w->depth > depth) {
            if (over || !w->line.line) {
                if (!finish(w, backward)) return false;
                if (w->depth >= depth && same_line(&w->line, &from)) continue;
            }
            return true;
        }
        if (w->depth < depth || !same_line(&w->line, &from)) return true;
    }
    return false;
}

/* Backward a line is entered at its end: goes on to its first instruction. */
static bool to_line_begin(ntr_line_walk *w) {
    const ntr_frame line = w->line;
    const size_t depth = w->depth;
    uint64_t position = ntr_replay_position(w->replay);

    while (line.line && move_one(w, true) && w->depth == depth && same_line(&w->line, &line))
        position = ntr_replay_position(w->replay);
    return go_to(w, position);
}

bool ntr_line_walk_move(ntr_line_walk *w, ntr_line_move move, bool backward) {
    if (move == NTR_LINE_INSTRUCTION) return move_one(w, backward);
    if (move == NTR_LINE_FINISH) return finish(w, backward);
    bool moved = move_line(w, move == NTR_LINE_NEXT, backward);
    return moved && backward ? to_line_begin(w) : moved;
}

/* ---- searches */

static int by_value(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static bool names_file(const char *file, const char *wanted, size_t size) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *name = slash ? slash + 1 : file;

    return name && strlen(name) == size && memcmp(name, wanted, size) == 0;
}

/* Returns the number of rows of the line, whose addresses are stored. */
static size_t add_rows(ntr_line_walk *w, const char *file, size_t file_size, uint32_t line, bool statements,
                       uint64_t *addresses) {
    const ntr_line_row *rows;
    size_t count, found = 0;

    for (size_t image = 0; ntr_debug_info_lines(w->debug, image, &rows, &count) == NTR_OK; image++)
        for (size_t i = 0; i < count && found < LINE_ADDRESSES; i++)
            if (rows[i].line == line && rows[i].is_statement >= statements && names_file(rows[i].file, file, file_size))
                addresses[found++] = rows[i].address;
    return found;
}

/* Returns the number of addresses of the line, sorted: those where statements begin, if there are any. */
static size_t line_addresses(ntr_line_walk *w, const char *file, size_t file_size, uint32_t line, uint64_t *addresses) {
    size_t found = add_rows(w, file, file_size, line, true, addresses);

    if (!found) found = add_rows(w, file, file_size, line, false, addresses);
    qsort(addresses, found, sizeof *addresses, by_value);
    return found;
}

/* The addresses that a line, an address or a function (*named) stands for. */
static size_t addresses_of(ntr_line_walk *w, const char *what, uint64_t *addresses, bool *named) {
    const char *colon = strrchr(what, ':'), *here = w->line.file ? strrchr(w->line.file, '/') : NULL;
    char *end;
    uint64_t number = strtoull(colon ? colon + 1 : what, &end, 0);
    const bool is_number = end != what && end != colon + 1 && !*end;

    *named = !is_number;
    if (is_number && colon) return line_addresses(w, what, (size_t)(colon - what), (uint32_t)number, addresses);
    if (is_number && strncmp(what, "0x", 2) != 0) {
        const char *file = here ? here + 1 : w->line.file ? w->line.file : "";
        return line_addresses(w, file, strlen(file), (uint32_t)number, addresses);
    }
    if (is_number) {
        addresses[0] = number;
        return ntr_fit_address(ntr_program_xlen(w->program), addresses);
    }
    const size_t found = ntr_find_functions(w->program, what, addresses, LINE_ADDRESSES);
    qsort(addresses, found, sizeof *addresses, by_value);
    return found;
}

static const char *find_addresses(ntr_line_walk *w, const char *what, bool backward) {
    uint64_t addresses[LINE_ADDRESSES], here;
    const uint64_t before = ntr_replay_position(w->replay);
    ntr_replay_search search = {.addresses = addresses, .backward = backward};
    ntr_replay_stop stop;
    bool named;

    search.count = addresses_of(w, what, addresses, &named);
    if (!search.count) return "no such function, address or line";
    if (ntr_replay_neighbour(w->replay, w->src, false, &here, &search.skip) == NTR_OK) search.skipped = here;
    ntr_replay_set_function(w->replay, named ? what : NULL);
    const ntr_status status = ntr_replay_find(w->replay, &search, &stop);
    ntr_replay_set_function(w->replay, NULL);
    if (status != NTR_OK) return "out of memory";
    if (stop.reason != NTR_REPLAY_HIT) {
        go_to(w, before);
        return backward ? "not executed before this place" : "not executed after this place";
    }
    w->src = stop.src;
    ntr_line_walk_arrive(w);
    return NULL;
}

const char *ntr_line_walk_gap(ntr_line_walk *w, bool backward) {
    const uint64_t before = ntr_replay_position(w->replay);
    const ntr_replay_search search = {.gaps = true, .backward = backward};
    ntr_replay_stop stop;

    if (ntr_replay_find(w->replay, &search, &stop) != NTR_OK) return "out of memory";
    const bool at_end = stop.reason == NTR_REPLAY_AT_END && stop.has_gap && ntr_replay_position(w->replay) > before;
    if (stop.reason != NTR_REPLAY_GAP && !at_end) {
        go_to(w, before);
        return backward ? "no gap before this place" : "no gap after this place";
    }
    w->src = stop.src;
    ntr_line_walk_arrive(w);
    return NULL;
}

const char *ntr_line_walk_search(ntr_line_walk *w, const char *what, bool backward) {
    const size_t skip = *what == '#' || *what == '@' ? 1 : strncmp(what, "t:", 2) == 0 ? 2 : 0;
    const char *text = what + skip;
    char *end;
    uint64_t position, total, number = strtoull(text, &end, 0);

    if (!*what) return "expected a function, an address, a line, #MESSAGE, @OFFSET, t:TIME or N%";
    if (!skip && (end == text || strcmp(end, "%") != 0)) return find_addresses(w, what, backward);
    if (end == text || (skip && *end)) return "expected a number";
    ntr_status status = skip ? ntr_replay_place(w->replay,
                                                *what == '#'   ? NTR_UNIT_MESSAGE
                                                : *what == '@' ? NTR_UNIT_OFFSET
                                                               : NTR_UNIT_TIME,
                                                number, &position)
                             : ntr_replay_total(w->replay, &total);
    if (status != NTR_OK) return "interrupted";
    if (!skip) position = number >= 100 ? total : total / 100 * number + total % 100 * number / 100;
    if (ntr_replay_go(w->replay, position) != NTR_OK) return "interrupted";
    w->src = ntr_replay_current(w->replay);
    ntr_line_walk_arrive(w);
    return NULL;
}
