/* Questions: which function answers them, and the frame of all answers. */
#include "explore/state.h"

#include "base/macros.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    ntr_answering *answer;
    const char *keys; /* of its arguments, each with a space behind it */
} questions[] = {
    {"about", ntr_answer_about, ""},
    {"overview", ntr_answer_overview, "from to columns "},
    {"slices", ntr_answer_slices, "from to least limit src "},
    {"tree", ntr_answer_tree, "from to least limit "},
    {"functions", ntr_answer_functions, "from to sort limit "},
    {"at", ntr_answer_at, "position src before after "},
    {"messages", ntr_answer_messages, "position before after "},
    {"find", ntr_answer_find, "text position direction src "},
    {"names", ntr_answer_named, "text limit "},
    {"lines", ntr_answer_lines, "from to position file function limit "},
    {"syscalls", ntr_answer_syscalls, "from to limit "},
    {"gaps", ntr_answer_gaps, "from to limit "},
    {"source", ntr_answer_source, "file first count "},
};

static bool has_key(const char *keys, const char *key) {
    const size_t length = strlen(key);
    for (const char *end; (end = strchr(keys, ' ')); keys = end + 1)
        if ((size_t)(end - keys) == length && memcmp(keys, key, length) == 0) return true;
    return false;
}

/* Refuses an argument that the question does not have: the answer would be to another question. */
static ntr_status check_keys(ntr_question *q, const char *name, const char *keys) {
    json_t *object = (json_t *)(uintptr_t)q->arguments;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        if (strcmp(key, "query") == 0 || has_key(keys, key)) continue;
        return ntr_question_fail(q, "%.40s: '%s' has no such argument; expected %s%.*s", key, name, *keys ? "" : "none",
                                 (int)(*keys ? strlen(keys) - 1 : 0), keys);
    }
    return NTR_OK;
}

static ntr_status dispatch(ntr_explorer *x, ntr_question *q, const char *name) {
    for (size_t i = 0; i < NTR_COUNT(questions); i++) {
        if (strcmp(questions[i].name, name) != 0) continue;
        TRY(check_keys(q, name, questions[i].keys));
        return questions[i].answer(x, q);
    }
    char names[120] = "";
    for (size_t i = 0, n = 0; i < NTR_COUNT(questions) && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", questions[i].name);
    return ntr_question_fail(q, "query: no such question '%.40s': expected one of %s", name, names);
}

static void write_progress(ntr_explorer *x, ntr_answer *a) {
    const ntr_explore_progress progress = ntr_explorer_progress(x);
    ntr_answer_open(a, "progress", '{');
    ntr_answer_number(a, "bytes", progress.bytes);
    if (x->config.stream_size) ntr_answer_number(a, "size", x->config.stream_size);
    ntr_answer_number(a, "known", progress.known);
    ntr_answer_number(a, "indexed", progress.indexed);
    ntr_answer_bool(a, "read", progress.read);
    ntr_answer_bool(a, "complete", progress.complete);
    ntr_answer_close(a, '}');
}

static ntr_status write_error(ntr_explorer *x, const char *error, ntr_status status) {
    ntr_answer *a = &x->answer;
    ntr_answer_begin(a);
    ntr_answer_open(a, NULL, '{');
    ntr_answer_text(a, "schema", NTR_EXPLORE_SCHEMA);
    ntr_answer_text(a, "error", error);
    ntr_answer_close(a, '}');
    const ntr_status written = ntr_answer_end(a);
    return written != NTR_OK ? written : status;
}

static ntr_status ask(ntr_explorer *x, ntr_question *q) {
    ntr_answer *a = q->answer;
    const char *name;
    if (!json_is_object(q->arguments)) return ntr_question_fail(q, "expected an object of JSON");
    TRY(ntr_question_text(q, "query", "", &name));
    ntr_answer_begin(a);
    ntr_answer_open(a, NULL, '{');
    ntr_answer_text(a, "schema", NTR_EXPLORE_SCHEMA);
    ntr_answer_text(a, "query", name);
    TRY(dispatch(x, q, name));
    ntr_answer_names(a, x->config.functions);
    ntr_answer_bool(a, "complete", !q->interrupted && !q->partial);
    if (q->interrupted) ntr_answer_bool(a, "interrupted", true);
    write_progress(x, a);
    ntr_answer_close(a, '}');
    return ntr_answer_end(a);
}

ntr_status ntr_explorer_ask(ntr_explorer *x, const char *question, size_t size, ntr_bytes *answer) {
    json_error_t error;
    json_t *arguments = json_loadb(question, size, JSON_REJECT_DUPLICATES, &error);
    ntr_question q = {.arguments = arguments, .answer = &x->answer};
    ntr_status status =
        arguments ? ask(x, &q) : ntr_question_fail(&q, "expected JSON: %.120s at byte %d", error.text, error.position);
    json_decref(arguments);
    if (status == NTR_E_INVALID && q.error[0])
        status = write_error(x, q.error, NTR_E_INVALID);
    else if (status < 0 && status != NTR_E_MEMORY)
        status = write_error(x, ntr_status_text(status), NTR_E_INVALID);
    *answer =
        (ntr_bytes){(const uint8_t *)x->answer.text, status == NTR_OK || status == NTR_E_INVALID ? x->answer.size : 0};
    return status;
}
