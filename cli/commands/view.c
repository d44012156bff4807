#include "io/replay_input.h"
#include "io/source_text.h"
#include "options/options.h"
#include "options/diagnostics.h"
#include "text/disasm.h"
#include "text/view_screen.h"

#include <ntrace/line_walk.h>

#include <string.h>
#include <unistd.h>

struct view_options {
    struct cli_replay_options replay;
    const char *source_path, *at;
};

#define S struct view_options
static const struct cli_option view_table[] = {
    CLI_STRING(0, "source-path", "DIRS", S, source_path,
               "folders of source files that are not at the path of the compilation, separated by colons"),
    CLI_STRING(0, "at", "PLACE", S, at,
               "begin at PLACE: begin (default), end, N% of the trace, #N (message), @N (byte offset), t:N (time), an "
               "address, a function, or FILE:LINE"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", view_table),
    CLI_GROUP("program", cli_image_options, struct view_options, replay.images),
    CLI_GROUP("debug information", cli_replay_options, struct view_options, replay),
    CLI_GROUP("stream", cli_stream_options, struct view_options, replay.stream),
    {0},
};

/* The first pass, with its progress. */
static bool step_progress(void *user, uint64_t done) {
    cli_progress_step(user, done);
    return true;
}

static ntr_status read_all(struct cli_replay *replay, uint64_t *total) {
    struct cli_progress progress;

    cli_progress_begin(&progress, replay->stream_path, cli_replay_bytes(replay));
    replay->proceed = step_progress;
    replay->proceed_user = &progress;
    ntr_status status = ntr_replay_total(replay->replay, total);
    cli_progress_end(&progress);
    replay->proceed = NULL;
    replay->proceed_user = NULL;
    return status;
}

/* Goes to the value of --at. Returns NULL, or why this is not possible. */
static const char *go_to_place(ntr_line_walk *walk, uint64_t total, const char *at) {
    const bool end = at && strcmp(at, "end") == 0;

    if (end && ntr_replay_go(walk->replay, total) != NTR_OK) return "the end cannot be read";
    walk->src = ntr_replay_current(walk->replay);
    ntr_line_walk_arrive(walk);
    return !at || end || strcmp(at, "begin") == 0 ? NULL : ntr_line_walk_search(walk, at, false);
}

static int show(struct cli_replay *replay, const struct view_options *o) {
    struct cli_source_match match = {0};
    struct cli_source_text source = {.match = &match};
    ntr_line_walk walk = {.replay = replay->replay, .debug = replay->debug, .program = replay->trace.program};
    struct cli_view view = {.walk = &walk, .source = &source};
    const char *why;

    cli_source_text_search(&source, o->source_path);
    cli_source_match_begin(&match, walk.program, walk.debug);
    view.disasm = cli_disasm_open(&why);
    ntr_status status = read_all(replay, &view.total);
    const char *misplaced = status < 0 ? NULL : go_to_place(&walk, view.total, o->at);
    int result = misplaced                   ? cli_fail("--at %s: %s", o->at, misplaced)
                 : status < 0                ? cli_fail("%s: %s", replay->stream_path, ntr_status_text(status))
                 : cli_view_run(&view, &why) ? CLI_OK
                                             : cli_fail("%s", why);
    cli_disasm_close(view.disasm);
    cli_source_text_release(&source);
    cli_source_match_report(&match);
    cli_source_match_release(&match);
    return result;
}

static int view_run(const void *options, char **operands) {
    const struct view_options *o = options;
    struct cli_replay replay;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return cli_fail("expected a terminal as standard input and output");
    int status = cli_replay_open(&replay, operands[0], &o->replay);
    if (status == CLI_OK) status = show(&replay, o);
    if (status == CLI_OK) status = cli_replay_status(&replay);
    cli_replay_close(&replay);
    return status;
}

const struct cli_command cli_view = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct view_options),
    .run = view_run,
    .about =
        "Walks through the recorded execution in the terminal, forward and backward: source on the left, disassembly and\n"
        "call stack on the right, the place in the trace below. For a debugger, see 'ntrace gdb'.\n"
        "\n"
        "Keys: s step to another line, n next (over calls), f finish (to after the call of this function), i\n"
        "one instruction; the capital letters do the same backward, F goes to the call. / searches forward, ? backward:\n"
        "a function, an address (0x...), LINE or FILE:LINE. g goes to #MESSAGE, @OFFSET, t:TIME or N%; the digits go to\n"
        "0% to 90%, a click in the line of the place to that part of the trace. l and L go to where execution is missing.\n"
        "q quits.",
    .examples = "  ntrace view hello.ntrace\n"
                "  ntrace view --at end crash.ntrace\n"
                "  ntrace view capture.nex -e firmware.elf --src-bits 2",
};
