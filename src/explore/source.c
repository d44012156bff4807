/* The text of a source file. */
#include "explore/state.h"

#include "base/macros.h"

#include <string.h>

enum { LINES_MOST = 2000, LINE_MOST = 1000 };

/* Writes one line, without what would make it longer than LINE_MOST bytes. */
static void write_line(ntr_answer *a, const uint8_t *at, size_t size) {
    char text[LINE_MOST + 1];
    if (size && at[size - 1] == '\r') size--;
    if (size > LINE_MOST) size = LINE_MOST;
    memcpy(text, at, size);
    for (size_t i = 0; i < size; i++)
        if (!text[i]) text[i] = '?';
    text[size] = 0;
    ntr_answer_exact(a, NULL, text);
}

ntr_status ntr_answer_source(ntr_explorer *x, ntr_question *q) {
    const char *file;
    uint64_t first, count, number = 1;
    ntr_bytes text = {0};
    TRY(ntr_question_text(q, "file", "", &file));
    TRY(ntr_question_number(q, "first", 1, 1, UINT32_MAX, &first));
    TRY(ntr_question_number(q, "count", 200, 1, LINES_MOST, &count));
    const bool found = x->config.source && *file && x->config.source(x->config.user, file, &text);
    ntr_answer_exact(q->answer, "file", file);
    ntr_answer_bool(q->answer, "found", found);
    ntr_answer_number(q->answer, "first", first);
    ntr_answer_open(q->answer, "text", '[');
    for (size_t at = 0; found && at < text.size; number++) {
        const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
        const size_t size = newline ? (size_t)(newline - (text.data + at)) : text.size - at;
        if (number >= first && number - first < count) write_line(q->answer, text.data + at, size);
        at += size + 1;
    }
    ntr_answer_close(q->answer, ']');
    ntr_answer_number(q->answer, "lines", number - 1);
    return NTR_OK;
}
