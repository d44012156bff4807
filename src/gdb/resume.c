/* Resuming: steps, range steps and continuing, forward and backward.
 *
 * A debugger with the OS ABI "GNU/Linux" does not use steps for RISC-V. It predicts the next address from register
 * values, of which a trace has none, sets a breakpoint there, and continues. At a branch that is often the wrong side.
 * Such a request is recognised: a breakpoint that is new since the previous resume is at a successor of the current
 * instruction that was not taken. It is then treated as a step. A debugger without an OS ABI, which is known
 * by the list of libraries that it reads, predicts nothing.
 *
 * Return places (unwind/invented_stack.h) are never executed. A breakpoint there, which `finish` sets, means: when the
 * handler has returned. And a debugger that steps over calls takes the handler for one only if it returns to the line
 * that is stepped over: where such a step enters a handler, its stack is without the return place (`direct`). */
#include "gdb/server.h"

#include <inttypes.h>
#include <string.h>

typedef struct action {
    bool step, one_hart;
    bool over; /* a step that may be the first part of a longer one: over a range, or off a breakpoint */
    uint16_t src;
    uint64_t low, high;
} action;

/* ---- predicted steps */

static bool is_image(const ntr_gdb *gdb, ntr_place place) {
    size_t image;
    return ntr_program_image_at(gdb->config.program, place, &image) == NTR_OK;
}

/* Returns whether a new breakpoint is where there is code at no time: predicted from a register that is not known. A
 * library or generated code of later may have breakpoints already. */
static bool has_wild_breakpoint(const ntr_gdb *gdb) {
    for (size_t i = 0; i < gdb->breakpoints.count; i++) {
        uint64_t address = gdb->breakpoints.addresses[i];
        if (ntr_gdb_breakpoint_is_new(&gdb->breakpoints, address) &&
            !is_image(gdb, ntr_place_at(NULL, NTR_POSITION_ANY, address)) &&
            !ntr_gdb_is_return_place(&gdb->images, address))
            return true;
    }
    return false;
}

static bool is_predicted_step(ntr_gdb *gdb) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    ntr_insn insn;
    uint64_t next;
    if (!hart || hart->ended || !hart->address_known || !gdb->breakpoints.count ||
        ntr_program_insn(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), &insn) < 0 ||
        ntr_replay_successor(gdb->replay, gdb->general, &next) != NTR_OK ||
        ntr_gdb_breakpoint_at(&gdb->breakpoints, next))
        return false;
    const uint64_t after = hart->address + insn.size;
    const bool falls = insn.flow == NTR_FLOW_LINEAR || insn.flow == NTR_FLOW_BRANCH || insn.flow == NTR_FLOW_TRAP;
    const bool jumps = insn.flow == NTR_FLOW_BRANCH;
    return (falls && after != next && ntr_gdb_breakpoint_is_new(&gdb->breakpoints, after)) ||
           (jumps && insn.target != next && ntr_gdb_breakpoint_is_new(&gdb->breakpoints, insn.target)) ||
           (!falls && has_wild_breakpoint(gdb));
}

static void hint_prediction(ntr_gdb *gdb) {
    if (gdb->told_prediction) return;
    gdb->told_prediction = true;
    ntr_gdb_say(gdb,
                "ntrace: this GDB predicts steps from register values; 'set osabi none' before 'file' avoids it\n");
}

/* ECALL and EBREAK do not retire, so that a trace does not have them: a breakpoint there is never reached. */
static void hint_traps(ntr_gdb *gdb) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    ntr_insn insn;
    for (size_t i = 0; hart && i < gdb->breakpoints.count && !gdb->told_trap; i++) {
        const uint64_t address = gdb->breakpoints.addresses[i];
        if (ntr_program_insn(gdb->config.program, ntr_place_at(&hart->context, hart->offset, address), &insn) !=
                NTR_OK ||
            insn.flow != NTR_FLOW_TRAP)
            continue;
        gdb->told_trap = true;
        ntr_gdb_say(gdb,
                    "ntrace: a trace has no ECALL and EBREAK, as they do not retire: the breakpoint at 0x%" PRIx64
                    " is not reached; set it in front of it, behind it, or in the handler\n",
                    address);
    }
}

/* ---- handlers of traps */

/* Notes whether the hart has entered a handler since its stack had `depth` frames. */
static void note_handler(ntr_gdb *gdb, uint16_t src, size_t depth) {
    bool trap;
    ntr_gdb_forget_state(gdb);
    gdb->general = src;
    const bool entered = ntr_gdb_depth(gdb, &trap) == depth + 1 && trap;
    if (entered) ntr_gdb_stack(gdb); /* if it has return places, the debugger must have their file before the stop */
    gdb->direct = entered && gdb->stack_valid && gdb->stack.has_places;
    ntr_gdb_forget_state(gdb);
}

/* Stores where the hart has returned from a handler with a breakpoint at its return place. Returns NTR_END when
 * interrupted. */
static ntr_status find_return(ntr_gdb *gdb, uint16_t src, uint64_t *position, bool *found) {
    const ntr_invented_stack *stack = ntr_gdb_stack(gdb);
    size_t frames = 0;
    *found = false;
    for (size_t i = 0; stack && i < gdb->breakpoints.count; i++) {
        const size_t behind = ntr_invented_stack_behind(stack, gdb->breakpoints.addresses[i]);
        if (behind > frames) frames = behind; /* the innermost one */
    }
    return frames ? ntr_replay_left(gdb->replay, src, frames, position, found) : NTR_OK;
}

/* ---- forward */

static void go_step(ntr_gdb *gdb, const action *a) {
    bool trap;
    const size_t depth = a->over ? ntr_gdb_depth(gdb, &trap) : 0;
    ntr_replay_stop stop;
    const ntr_replay_step step = {
        .src = a->src,
        .gaps = !gdb->pass_gaps,
        .low = a->low,
        .high = a->high,
        .alone = a->one_hart,
        .addresses = gdb->breakpoints.addresses,
        .count = gdb->breakpoints.count,
    };
    ntr_status status = ntr_replay_go_step(gdb->replay, &step, &stop);
    if (status == NTR_OK && stop.reason == NTR_REPLAY_LIMIT)
        status = ntr_gdb_pass_over(gdb, &step, a->over, depth, &stop);
    if (status == NTR_OK && a->over && stop.reason == NTR_REPLAY_LIMIT) note_handler(gdb, stop.src, depth);
    if (status < 0)
        gdb->failed = status;
    else
        ntr_gdb_report_stop(gdb, &stop, NTR_GDB_STEPPED);
}

/* Forward, the instruction at the position does not count: the debugger has seen the stop there. When all harts go on,
 * the thread that the debugger has selected since may be another one, whose breakpoint does count. */
static void go_on(ntr_gdb *gdb, const action *a, bool backward) {
    bool found = false;
    ntr_replay_stop stop;
    ntr_replay_search search = {
        .addresses = gdb->breakpoints.addresses,
        .count = gdb->breakpoints.count,
        .backward = backward,
        .gaps = !gdb->pass_gaps,
        .one_hart = a->one_hart,
        .src = a->src,
    };
    ntr_status status = NTR_OK;
    if (!backward) status = find_return(gdb, a->src, &search.until, &search.has_until);
    if (!backward && status == NTR_OK)
        status = ntr_replay_neighbour(gdb->replay, a->one_hart ? a->src : ntr_replay_current(gdb->replay), false,
                                      &search.skipped, &found);
    search.skip = found;
    stop = (ntr_replay_stop){.src = a->src, .reason = NTR_REPLAY_INTERRUPTED};
    if (status == NTR_OK) status = ntr_replay_find(gdb->replay, &search, &stop);
    if (status < 0)
        gdb->failed = status;
    else
        ntr_gdb_report_stop(gdb, &stop, backward ? NTR_GDB_BACKWARD : NTR_GDB_RETURNED);
}

/* A debugger removes all breakpoints when it steps off one. */
static bool is_step_over(ntr_gdb *gdb, const action *a) {
    if (!a->step || a->low != a->high) return a->step;
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    return hart && !gdb->breakpoints.count && ntr_gdb_breakpoint_was(&gdb->breakpoints, hart->address);
}

static void perform(ntr_gdb *gdb, action a) {
    if (ntr_gdb_waiting_stop(gdb)) return;
    gdb->general = a.src;
    ntr_gdb_forget_state(gdb);
    gdb->direct = false;
    if (!a.step && !gdb->no_prediction && is_predicted_step(gdb)) {
        a.step = true;
        hint_prediction(gdb);
    }
    a.over = is_step_over(gdb, &a);
    if (!a.step) hint_traps(gdb);
    if (ntr_gdb_breakpoints_resume(&gdb->breakpoints) != NTR_OK)
        gdb->failed = NTR_E_MEMORY;
    else if (a.step)
        go_step(gdb, &a);
    else
        go_on(gdb, &a, false);
    if (!a.step) gdb->in_stub = false;
}

/* Reads one action of vCont behind its `;`. Returns false when it is malformed. */
static bool read_action(ntr_gdb *gdb, const char **at, action *a, bool *other) {
    uint64_t signal;
    bool any = true;
    const char kind = **at;
    *a = (action){.src = ntr_gdb_resumed(gdb)};
    *other = false;
    if (!kind) return false;
    ++*at;
    switch (kind) {
    case 'C':
    case 'S':
        if (!ntr_gdb_number(at, &signal)) return false;
        break;
    case 'r':
        if (!ntr_gdb_number(at, &a->low) || !ntr_gdb_character(at, ',') || !ntr_gdb_number(at, &a->high)) return false;
        break;
    case 'c':
    case 's': break;
    case 't': *other = true; break;
    default: return false;
    }
    a->step = kind == 's' || kind == 'S' || kind == 'r';
    if (ntr_gdb_character(at, ':') && !ntr_gdb_thread(gdb, at, &a->src, &any)) return false;
    a->one_hart = !any;
    return **at == 0 || **at == ';';
}

void ntr_gdb_resume(ntr_gdb *gdb, const char *packet) {
    const char *at = packet + 5;
    action chosen = {.src = ntr_gdb_resumed(gdb)}, a;
    bool has = false, other, rest = false;
    if (*at == '?' && !at[1]) {
        ntr_gdb_text_print(&gdb->answer, "vCont;c;C;s;S;t;r");
        return;
    }
    while (ntr_gdb_character(&at, ';')) {
        if (!read_action(gdb, &at, &a, &other)) {
            ntr_gdb_text_print(&gdb->answer, "E01");
            return;
        }
        if (other) continue;
        if (!a.one_hart && !a.step) rest = true; /* the other harts continue */
        if (!has || (a.step && !chosen.step)) chosen = a;
        has = true;
    }
    if (!has || *at) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    if (rest || !chosen.one_hart) chosen.one_hart = false;
    perform(gdb, chosen);
}

void ntr_gdb_resume_old(ntr_gdb *gdb, const char *packet) {
    if (packet[1]) { /* "continue at this address" is a jump */
        ntr_gdb_text_print(&gdb->answer, "E.a recorded execution cannot be changed");
        return;
    }
    perform(gdb, (action){.step = packet[0] == 's', .src = ntr_gdb_resumed(gdb), .one_hart = !gdb->resumed_any});
}

/* ---- backward */

static void step_back(ntr_gdb *gdb, uint16_t src) {
    uint64_t position = 0;
    bool found, trap;
    gdb->general = src;
    const size_t depth = ntr_gdb_depth(gdb, &trap);
    ntr_replay_stop stop = {.src = src, .reason = NTR_REPLAY_LIMIT};
    ntr_status status = ntr_replay_neighbour(gdb->replay, src, true, &position, &found);
    if (status == NTR_OK && !found) {
        stop.reason = NTR_REPLAY_BEGIN;
        position = 0;
    }
    if (status == NTR_OK) status = ntr_replay_go(gdb->replay, position);
    if (status == NTR_END) stop.reason = NTR_REPLAY_INTERRUPTED;
    if (status == NTR_OK) note_handler(gdb, src, depth);
    if (status < 0)
        gdb->failed = status;
    else
        ntr_gdb_report_stop(gdb, &stop, NTR_GDB_BACKWARD);
}

void ntr_gdb_reverse(ntr_gdb *gdb, const char *packet) {
    const action a = {.src = ntr_gdb_resumed(gdb), .one_hart = !gdb->resumed_any};
    if ((strcmp(packet, "bs") == 0 || strcmp(packet, "bc") == 0) && ntr_gdb_waiting_stop(gdb)) return;
    ntr_gdb_forget_state(gdb);
    gdb->direct = gdb->in_stub = false;
    if (ntr_gdb_breakpoints_resume(&gdb->breakpoints) != NTR_OK)
        gdb->failed = NTR_E_MEMORY;
    else if (strcmp(packet, "bs") == 0)
        step_back(gdb, a.src);
    else if (strcmp(packet, "bc") == 0)
        go_on(gdb, &a, true);
}
