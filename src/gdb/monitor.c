/* Monitor commands: what GDB has no command for. "monitor help" lists them. */
#include "gdb/server.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef ntr_status monitor_command(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text);

/* ---- where */

static void describe_address(ntr_gdb *gdb, const ntr_replay_hart *hart, ntr_gdb_text *text) {
    ntr_symbol symbol;
    ntr_gdb_text_print(text, "0x%" PRIx64, hart->address);
    if (ntr_program_symbol(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), &symbol) !=
        NTR_OK)
        return;
    ntr_gdb_text_print(text, " <%s+%" PRIu64 ">", symbol.name, hart->address - symbol.address);
}

static ntr_status when(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    uint64_t total;
    (void)argument;
    ntr_status status = ntr_replay_total(gdb->replay, &total);
    if (status < 0) return status;
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (!hart) {
        ntr_gdb_text_print(text, "nothing was executed\n");
        return NTR_OK;
    }
    ntr_gdb_describe_thread(gdb, gdb->general, text);
    ntr_gdb_text_print(text, ": instruction %" PRIu64 " of %" PRIu64 "%s at ", hart->number,
                       ntr_replay_executed(gdb->replay, gdb->general), status == NTR_END ? " read so far" : "");
    describe_address(gdb, hart, text);
    ntr_gdb_text_print(text, ", message #%" PRIu64 " at byte @0x%" PRIx64, hart->message, hart->offset);
    if (hart->timed) ntr_gdb_text_print(text, ", time t:%" PRIu64, hart->time);
    if (hart->context.has_scontext) ntr_gdb_text_print(text, ", scontext 0x%" PRIx64, hart->context.scontext);
    ntr_gdb_text_print(text, "\n");
    return NTR_OK;
}

/* The position has changed: says where it is now. */
static ntr_status arrive(ntr_gdb *gdb, ntr_gdb_text *text) {
    gdb->general = ntr_replay_current(gdb->replay);
    ntr_gdb_forget_state(gdb);
    ntr_gdb_text_clear(&gdb->stop);
    gdb->stop_waits = gdb->direct = gdb->in_stub = false;
    gdb->moved = true;
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (!hart) return NTR_OK;
    ntr_gdb_describe_thread(gdb, gdb->general, text);
    ntr_gdb_text_print(text, ": instruction %" PRIu64 " at ", hart->number);
    describe_address(gdb, hart, text);
    ntr_gdb_text_print(text, "\n");
    return NTR_OK;
}

/* ---- goto */

static bool number_of(const char *text, uint64_t *number, const char **end) {
    char *stop;
    if (*text < '0' || *text > '9') return false;
    *number = strtoull(text, &stop, 0);
    *end = stop;
    return true;
}

static ntr_status place_of(ntr_gdb *gdb, const char *place, uint64_t *position) {
    uint64_t number, total;
    const char *end;
    ntr_status status;
    if (strcmp(place, "begin") == 0 || strcmp(place, "end") == 0) {
        *position = place[0] == 'b' ? 0 : UINT64_MAX;
        return NTR_OK;
    }
    const char mark = place[0];
    const size_t skip = mark == '#' || mark == '@' ? 1 : strncmp(place, "t:", 2) == 0 ? 2 : 0;
    if (!number_of(place + skip, &number, &end)) return NTR_E_INVALID;
    if (!skip && strcmp(end, "%") == 0) {
        status = ntr_replay_total(gdb->replay, &total);
        *position = number >= 100 ? total : total / 100 * number + total % 100 * number / 100;
        return status;
    }
    if (*end) return NTR_E_INVALID;
    if (!skip) return ntr_replay_place_in_hart(gdb->replay, gdb->general, number, position);
    return ntr_replay_place(gdb->replay,
                            mark == '#'   ? NTR_UNIT_MESSAGE
                            : mark == '@' ? NTR_UNIT_OFFSET
                                          : NTR_UNIT_TIME,
                            number, position);
}

static ntr_status go(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    uint64_t position;
    ntr_status status = place_of(gdb, argument, &position);
    if (status == NTR_E_INVALID)
        ntr_gdb_text_print(text,
                           "goto: expected an instruction number, #MESSAGE, @OFFSET, t:TIME, begin, end or a "
                           "percentage (37%%), found '%s'\n",
                           argument);
    if (status == NTR_OK) status = ntr_replay_go(gdb->replay, position);
    if (status == NTR_OK) return arrive(gdb, text);
    if (status == NTR_END) ntr_gdb_text_print(text, "interrupted\n");
    return status == NTR_END ? NTR_OK : status;
}

/* ---- gaps */

static ntr_status to_gap(ntr_gdb *gdb, bool backward, ntr_gdb_text *text) {
    const uint64_t before = ntr_replay_position(gdb->replay);
    const ntr_replay_search search = {.gaps = true, .backward = backward};
    ntr_replay_stop stop;
    ntr_status status = ntr_replay_find(gdb->replay, &search, &stop);
    if (status != NTR_OK) return status;
    const bool at_end = stop.reason == NTR_REPLAY_AT_END && stop.has_gap && ntr_replay_position(gdb->replay) > before;
    if (stop.reason == NTR_REPLAY_GAP || at_end) {
        ntr_gdb_describe_gap(text, &stop.gap);
        ntr_gdb_text_print(text, "\n");
        return arrive(gdb, text);
    }
    ntr_gdb_text_print(text, "no gap %s this place\n", backward ? "before" : "after");
    return ntr_replay_go(gdb->replay, before);
}

static ntr_status next_gap(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    (void)argument;
    return to_gap(gdb, false, text);
}

static ntr_status previous_gap(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    (void)argument;
    return to_gap(gdb, true, text);
}

static ntr_status gaps(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    const bool pass = strcmp(argument, "pass") == 0;
    if (!pass && strcmp(argument, "stop") != 0) {
        ntr_gdb_text_print(text, "gaps: expected 'stop' or 'pass', found '%s'\n", argument);
        return NTR_E_INVALID;
    }
    gdb->pass_gaps = pass;
    ntr_gdb_text_print(text, "execution %s at gaps\n", pass ? "does not stop" : "stops");
    return NTR_OK;
}

/* ---- frames */

/* Goes to the nearest execution of the address with this depth of the stack. */
static ntr_status to_frame(ntr_gdb *gdb, uint64_t address, size_t depth, bool backward, ntr_gdb_text *text) {
    const uint64_t before = ntr_replay_position(gdb->replay);
    ntr_replay_search search = {
        .addresses = &address, .count = 1, .backward = backward, .one_hart = true, .src = gdb->general};
    ntr_replay_stop stop;
    ntr_status status;
    bool trap;
    while ((status = ntr_replay_find(gdb->replay, &search, &stop)) == NTR_OK && stop.reason == NTR_REPLAY_HIT) {
        ntr_gdb_forget_state(gdb);
        if (ntr_gdb_depth(gdb, &trap) == depth) return arrive(gdb, text);
        search.skip = true;
        search.skipped = ntr_replay_position(gdb->replay);
    }
    if (status != NTR_OK) return status;
    ntr_gdb_text_print(text, "this trace does not have the %s of this frame\n", backward ? "call" : "return");
    ntr_gdb_forget_state(gdb);
    return ntr_replay_go(gdb->replay, before);
}

/* No call leads to the handler of a trap. The interrupted instruction may not have been executed before it. */
static ntr_status to_trap(ntr_gdb *gdb, ntr_gdb_text *text) {
    uint64_t position;
    bool found;
    ntr_status status = ntr_replay_entered(gdb->replay, gdb->general, &position, &found);
    if (status == NTR_OK && found) status = ntr_replay_go(gdb->replay, position);
    if (status == NTR_OK && found) return arrive(gdb, text);
    ntr_gdb_text_print(text, status == NTR_END ? "interrupted\n"
                                               : "this trace does not have what this handler interrupted\n");
    return status == NTR_END ? NTR_OK : status;
}

static ntr_status caller_or_return(ntr_gdb *gdb, bool backward, ntr_gdb_text *text) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    ntr_stack_frame frame;
    uint32_t caller;
    if (!hart || !ntr_replay_frame(gdb->replay, hart->frame, &frame, &caller) || !caller) {
        ntr_gdb_text_print(text, "the caller of this frame is not known\n");
        return NTR_E_INVALID;
    }
    bool trap;
    const size_t depth = ntr_gdb_depth(gdb, &trap);
    if (backward && trap) return to_trap(gdb, text);
    return to_frame(gdb, backward ? frame.site : frame.return_to, depth - 1, backward, text);
}

static ntr_status to_caller(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    (void)argument;
    return caller_or_return(gdb, true, text);
}

static ntr_status to_return(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    (void)argument;
    return caller_or_return(gdb, false, text);
}

/* A debugger that steps over calls has seen the stack of a handler that the step has entered without return places.
 * When it has stopped, it may read it again. */
static ntr_status stopped(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    (void)argument;
    if (gdb->direct) ntr_gdb_text_print(text, "the stack has changed\n");
    if (gdb->moved) ntr_gdb_text_print(text, "the place has changed\n");
    gdb->direct = gdb->moved = false;
    ntr_gdb_forget_state(gdb);
    return NTR_OK;
}

/* ---- hits */

static ntr_status hits(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    ntr_replay_hits found;
    uint64_t address;
    const char *end;
    const bool named = !number_of(argument, &address, &end) || *end;
    if (named) {
        uint64_t entries[2]; /* of a name with several functions, none is meant */
        const size_t count = ntr_find_functions(gdb->config.program, argument, entries, 2);
        if (count != 1) {
            ntr_gdb_text_print(text, "hits: expected an address or a function, found '%s'%s\n", argument,
                               count ? ", the name of several functions" : "");
            return NTR_E_INVALID;
        }
        address = entries[0];
    } else if (!ntr_fit_address(ntr_program_xlen(gdb->config.program), &address)) {
        ntr_gdb_text_print(text, "hits: expected an address of 32 bits, found '%s'\n", argument);
        return NTR_E_INVALID;
    }
    ntr_replay_set_function(gdb->replay, named ? argument : NULL);
    ntr_status status = ntr_replay_count(gdb->replay, address, &found);
    ntr_replay_set_function(gdb->replay, NULL);
    if (status < 0) return status;
    ntr_gdb_text_print(text, "0x%" PRIx64 " was executed %" PRIu64 " times%s", address, found.times,
                       status == NTR_END ? " in the part read so far" : "");
    if (found.times)
        ntr_gdb_text_print(text, "; first as instruction %" PRIu64 ", last as instruction %" PRIu64 " of the trace",
                           found.first, found.last);
    ntr_gdb_text_print(text, "\n");
    return NTR_OK;
}

/* ---- the table */

static ntr_status help(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text);

static const struct command {
    const char *name;
    monitor_command *run;
    const char *help;
} commands[] = {
    {"help", help, "this list"},
    {"when", when, "hart, instruction, message, offset and time of this place"},
    {"goto", go,
     "goto N | #MESSAGE | @OFFSET | t:TIME | begin | end | 37%; then 'maintenance flush register-cache' "
     "(ntrace.gdb has a command that does both)"},
    {"next-gap", next_gap, "to the next place where execution is missing"},
    {"prev-gap", previous_gap, "to the previous place where execution is missing"},
    {"caller", to_caller, "back to the call of this frame"},
    {"return", to_return, "forward to behind the call of this frame"},
    {"stopped", stopped,
     "typed by ntrace.gdb at each stop and after each of these commands: whether registers must be read again"},
    {"hits", hits, "hits ADDRESS | FUNCTION: how often it was executed"},
    {"gaps", gaps, "gaps stop | pass: whether execution stops at gaps"},
};

static ntr_status help(ntr_gdb *gdb, const char *argument, ntr_gdb_text *text) {
    (void)gdb, (void)argument;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        ntr_gdb_text_print(text, "%-9s %s\n", commands[i].name, commands[i].help);
    return NTR_OK;
}

static ntr_status run(ntr_gdb *gdb, const char *line, ntr_gdb_text *text) {
    size_t size = strcspn(line, " \t");
    ntr_gdb_text_clear(text);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *c = &commands[i];
        if (strlen(c->name) != size || strncmp(line, c->name, size) != 0) continue;
        return c->run(gdb, line + size + strspn(line + size, " \t"), text);
    }
    ntr_gdb_text_print(text, "no command '%s'; 'monitor help' lists them\n", line);
    return NTR_E_INVALID;
}

ntr_status ntr_gdb_monitor(ntr_gdb *gdb, const char *command, const char **text) {
    ntr_status status = run(gdb, command, &gdb->console);
    *text = gdb->console.bytes ? gdb->console.bytes : "";
    return gdb->console.failed ? NTR_E_MEMORY : status;
}

void ntr_gdb_monitor_packet(ntr_gdb *gdb, const char *packet) {
    char line[256];
    size_t size = 0;
    const char *at = packet + strlen("qRcmd,");
    for (; size < sizeof line - 1; at += 2, size++) {
        int high = ntr_gdb_digit(at[0]), low = high < 0 ? -1 : ntr_gdb_digit(at[1]);
        if (low < 0) break;
        line[size] = (char)(high << 4 | low);
    }
    while (size && line[size - 1] == ' ') size--;
    line[size] = 0;
    if (*at) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    ntr_status status = run(gdb, line, &gdb->console);
    if (status < 0 && status != NTR_E_INVALID) gdb->failed = status;
    if (gdb->console.size)
        ntr_gdb_text_hex(&gdb->answer, gdb->console.bytes, gdb->console.size);
    else
        ntr_gdb_text_print(&gdb->answer, "OK");
}
