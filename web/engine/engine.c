/* The explorer in a browser: what web/src/worker.ts calls. One thread calls all functions, none from within another.
 *
 * A trace is opened with the words of `ntrace explore` on files that the caller has put into the file system of the
 * module; messages of the command go to its standard error. Answers are those of ntr_explorer_ask. */
#include "commands/explore/session.h"
#include "options/diagnostics.h"
#include "options/options.h"

#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 64 };

struct trace {
    struct explore_options options;
    struct explore_session session;
    char *text; /* holds the words, which the options point into */
    char *words[WORDS_MOST + 1];
};

static struct trace *traces[EXPLORE_TRACES_MOST];
static size_t answer_size;

static void close_trace(struct trace *t) {
    explore_session_close(&t->session);
    cli_options_release(explore_groups, &t->options);
    free(t->text);
    free(t);
}

static int open_trace(struct trace *t, const char *text, size_t size) {
    const struct cli_parse parse = {"explore", explore_groups, &t->options};
    enum cli_help help;
    int count = 0;

    cli_options_init(explore_groups, &t->options);
    t->text = malloc(size + 1);
    if (!t->text) return cli_fail("out of memory");
    memcpy(t->text, text, size);
    t->text[size] = 0;
    for (size_t at = 0; at < size; at += strlen(t->text + at) + 1) {
        if (count == WORDS_MOST) return cli_fail("expected at most %d words", WORDS_MOST);
        t->words[count++] = t->text + at;
    }
    count = cli_options_parse(&parse, count, t->words, false, &help);
    if (count < 0) return CLI_FAILED;
    if (count != 1) return cli_fail("expected one trace, found %d", count);
    return explore_session_open(&t->session, t->words[0], &t->options);
}

/* Opens a trace. `text`: words of `ntrace explore`, each with its zero. Returns its number for the other functions, or
 * -1 after writing the reason to standard error. */
EMSCRIPTEN_KEEPALIVE int engine_open(const char *text, size_t size) {
    int number = 0;

    cli_report_command("explore");
    while (number < EXPLORE_TRACES_MOST && traces[number]) number++;
    if (number == EXPLORE_TRACES_MOST) return cli_fail("at most %d traces can be open", EXPLORE_TRACES_MOST), -1;
    struct trace *t = calloc(1, sizeof *t);
    if (!t) return cli_fail("out of memory"), -1;
    t->session.replay.stream_file = -1;
    t->session.replay.trace.input.fd = -1;
    if (open_trace(t, text, size) != CLI_OK) {
        close_trace(t);
        return -1;
    }
    traces[number] = t;
    return number;
}

static struct trace *trace_of(int number) {
    return number >= 0 && number < EXPLORE_TRACES_MOST ? traces[number] : NULL;
}

EMSCRIPTEN_KEEPALIVE void engine_close(int number) {
    if (trace_of(number)) close_trace(traces[number]);
    if (number >= 0 && number < EXPLORE_TRACES_MOST) traces[number] = NULL;
}

/* Makes some more of the index, for at most about `milliseconds`. Returns 1 when it is complete, 0 when there is more
 * to do, a negative ntr_status after an error. */
EMSCRIPTEN_KEEPALIVE int engine_work(int number, int milliseconds) {
    struct trace *t = trace_of(number);
    const uint64_t end = explore_clock() + (uint64_t)milliseconds;
    ntr_status status = NTR_END;

    if (!t) return NTR_E_INVALID;
    while (status == NTR_END && explore_clock() < end) status = ntr_explorer_work(t->session.explorer);
    return status == NTR_OK ? 1 : status == NTR_END ? 0 : (int)status;
}

/* Returns the answer to a question, of engine_answer_size() bytes, valid until the next call; NULL without memory. */
EMSCRIPTEN_KEEPALIVE const char *engine_ask(int number, const char *question, size_t size) {
    struct trace *t = trace_of(number);
    ntr_bytes answer = {0};

    answer_size = 0;
    if (!t) return NULL;
    t->session.deadline = explore_clock() + EXPLORE_ANSWER_MILLISECONDS;
    const ntr_status status = ntr_explorer_ask(t->session.explorer, question, size, &answer);
    t->session.deadline = 0;
    if (status < 0 && status != NTR_E_INVALID) return NULL;
    answer_size = answer.size;
    return (const char *)answer.data;
}

EMSCRIPTEN_KEEPALIVE size_t engine_answer_size(void) {
    return answer_size;
}

/* Returns the sentence of a negative result of engine_work. */
EMSCRIPTEN_KEEPALIVE const char *engine_status_text(int status) {
    return ntr_status_text((ntr_status)status);
}
