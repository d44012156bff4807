#include "commands/explore_session.h"
#include "options/diagnostics.h"
#include "options/options.h"

#include <stdio.h>
#include <string.h>

#define S struct explore_options
static const struct cli_option explore_table[] = {
    CLI_LIST(
        0, "ask", "QUESTION", S, questions,
        "print the answer to a question, one line of JSON (docs/explore.md), and end; several are answered in order"),
    CLI_STRING(0, "source-path", "DIRS", S, source_path,
               "directories of source files that are not at the path of the compilation, separated by colons"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
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

static int explore_run(const void *options, char **operands) {
    const struct explore_options *o = options;
    struct explore_session session;

    if (!o->questions.count) return cli_fail("expected --ask QUESTION");
    int status = explore_session_open(&session, operands[0], o);
    if (status == CLI_OK) status = explore_session_index(&session);
    if (status == CLI_OK) status = answer_all(&session, o);
    explore_session_close(&session);
    return status;
}

const struct cli_command cli_explore = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct explore_options),
    .run = explore_run,
    .about =
        "Answers questions about an execution as JSON: an overview in columns, the functions on the stacks of the harts,\n"
        "the call tree and the functions of a range, the instructions, source and messages at a position, and\n"
        "searches. docs/explore.md lists the questions.",
    .examples = "  ntrace explore hello.ntrace --ask '{\"query\":\"functions\",\"limit\":10}'\n"
                "  ntrace explore hello.ntrace --ask '{\"query\":\"find\",\"text\":\"main\"}'",
};
