#include "commands/explore/index.h"
#include "commands/explore/serve.h"
#include "options/diagnostics.h"
#include "options/options.h"
#include "text/event_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define S struct explore_options
static const struct cli_option explore_table[] = {
    CLI_LIST(
        0, "ask", "QUESTION", S, questions,
        "print the answer to a question, one line of JSON (docs/explore.md), and end; several are answered in order"),
    CLI_STRING(0, "listen", "[HOST:]PORT", S, listen,
               "serve the page at this loopback address (default: any free port of 127.0.0.1)"),
    CLI_FLAG(0, "no-browser", S, no_browser, "print the address of the page, and do not open it in a browser"),
    CLI_STRING(0, "cache", "DIR|none", S, cache,
               "keep the index in this folder, for the next start; 'none': do not keep it (default: ntrace/explore in "
               "$XDG_CACHE_HOME or ~/.cache, if it takes more than a second to make)"),
    CLI_STRING(0, "source-path", "DIRS", S, source_path,
               "folders of source files that are not at the path of the compilation, separated by colons"),
    {0},
};
#undef S

const struct cli_group explore_groups[] = {
    CLI_OWN("options", explore_table),
    CLI_GROUP("program", cli_image_options, struct explore_options, replay.images),
    CLI_GROUP("debug information", cli_replay_options, struct explore_options, replay),
    CLI_GROUP("stream", cli_stream_options, struct explore_options, replay.stream),
    {0},
};

/* Returns CLI_DEFECTS if a question has no answer. */
static int answer_all(struct explore_session *s, const struct explore_options *o) {
    int result = CLI_OK;

    for (size_t i = 0; i < o->questions.count; i++) {
        const char *question = o->questions.items[i].value;
        ntr_bytes answer;
        const ntr_status status = ntr_explorer_ask(s->explorer, question, strlen(question), &answer);
        if (status < 0 && status != NTR_E_INVALID) return cli_fail("--ask: %s", ntr_status_text(status));
        if (fwrite(answer.data, 1, answer.size, stdout) != answer.size || putchar('\n') == EOF)
            return cli_fail("standard output: cannot write");
        if (status == NTR_E_INVALID) result = CLI_FAILED;
    }
    return result;
}

/* An answer has less than was executed where the trace has gaps. */
static void report_gaps(const struct explore_session *s) {
    ntr_event first;
    const uint64_t gaps = ntr_explorer_gaps(s->explorer, &first);

    if (!gaps) return;
    cli_doubt("%s: byte 0x%" PRIx64 ", message #%" PRIu64 ": gap: %s", s->replay.stream_path, first.offset,
              first.message, cli_gap_text(&first));
    if (gaps > 1)
        cli_note("%s: %" PRIu64 " gaps in all; the question \"gaps\" lists them", s->replay.stream_path, gaps);
}

static int explore_all(struct explore_session *sessions, size_t count, const struct explore_options *o) {
    if (!o->questions.count) return explore_serve(sessions, count, o);
    const int status = explore_session_index(sessions);
    if (status != CLI_OK) return status;
    explore_index_keep(sessions, o);
    report_gaps(sessions);
    return answer_all(sessions, o);
}

static int explore_run(const void *options, char **operands) {
    const struct explore_options *o = options;
    struct explore_session *sessions;
    size_t count = 0;
    int status = CLI_OK;

    if (o->questions.count && operands[1]) return cli_fail("--ask expects one trace");
    if (!(sessions = calloc(EXPLORE_TRACES_MOST, sizeof *sessions))) return cli_fail("out of memory");
    while (operands[count] && status == CLI_OK) {
        status = explore_session_open(&sessions[count], operands[count], o);
        if (status == CLI_OK) explore_index_load(&sessions[count], o);
        count++;
    }
    if (status == CLI_OK) status = explore_all(sessions, count, o);
    while (count) explore_session_close(&sessions[--count]);
    free(sessions);
    return status;
}

#define OPERANDS                                                                                                       \
    .operands = "TRACE...", .min_operands = 1, .max_operands = EXPLORE_TRACES_MOST, .groups = explore_groups,          \
    .size = sizeof(struct explore_options), .run = explore_run

const struct cli_command cli_open = {
    OPERANDS,
    .about =
        "Opens a trace in the browser: an overview of the whole execution, a timeline of the call stacks that zooms down to\n"
        "one instruction, its source, disassembly, call stack and the message that proves it, functions, call tree, gaps,\n"
        "and searches forward and backward. Several traces are opened beside each other.\n"
        "\n"
        "The page is served on this machine alone, at a random address that is printed; nothing is sent elsewhere. ^C ends\n"
        "it. docs/explore.md describes the page.",
    .examples = "  ntrace open hello.ntrace\n"
                "  ntrace open before.ntrace after.ntrace\n"
                "  ntrace open --no-browser --listen 8000 capture.nex -e firmware.elf",
};

const struct cli_command cli_explore = {
    OPERANDS,
    .about =
        "Answers questions about an execution as JSON (--ask): an overview in columns, the functions on the stacks of the\n"
        "harts, the call tree and the functions of a range, the instructions, source and messages at a position, and\n"
        "searches. docs/explore.md lists the questions. Without --ask, it is 'ntrace open'.",
    .examples = "  ntrace explore hello.ntrace --ask '{\"query\":\"functions\",\"limit\":10}'\n"
                "  ntrace explore hello.ntrace --ask '{\"query\":\"find\",\"text\":\"main\"}'",
};
