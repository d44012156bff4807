#include "explore/answer.h"

#include "base/allocator.h"

#include <string.h>

static ntr_status append(void *user, const void *bytes, size_t size) {
    ntr_answer *answer = user;
    if (size > NTR_ANSWER_MAX - answer->size) return NTR_E_LIMIT;
    if (ntr_reserve(answer->allocator, (void **)&answer->text, &answer->capacity, answer->size + size, 1))
        return NTR_E_MEMORY;
    memcpy(answer->text + answer->size, bytes, size);
    answer->size += size;
    return NTR_OK;
}

void ntr_answer_begin(ntr_answer *answer) {
    answer->size = 0;
    answer->begun = false;
    for (size_t i = 0; i < answer->function_count; i++) answer->index[answer->functions[i]] = 0;
    answer->function_count = 0;
    answer->out.used = 0;
    answer->out.status = NTR_OK;
    ntr_output_init(&answer->out.output);
    answer->out.output.write = append;
    answer->out.output.user = answer;
}

static void begin_value(ntr_answer *answer, const char *key) {
    if (answer->begun) ntr_out_char(&answer->out, ',');
    answer->begun = true;
    if (!key) return;
    ntr_out_json(&answer->out, key);
    ntr_out_char(&answer->out, ':');
}

void ntr_answer_open(ntr_answer *answer, const char *key, char bracket) {
    begin_value(answer, key);
    ntr_out_char(&answer->out, bracket);
    answer->begun = false;
}

void ntr_answer_close(ntr_answer *answer, char bracket) {
    ntr_out_char(&answer->out, bracket);
    answer->begun = true;
}

void ntr_answer_number(ntr_answer *answer, const char *key, uint64_t value) {
    const bool exact = value < UINT64_C(1) << 53;
    begin_value(answer, key);
    if (!exact) ntr_out_char(&answer->out, '"');
    ntr_out_dec(&answer->out, value);
    if (!exact) ntr_out_char(&answer->out, '"');
}

void ntr_answer_null(ntr_answer *answer, const char *key) {
    begin_value(answer, key);
    ntr_out_text(&answer->out, "null");
}

void ntr_answer_hex(ntr_answer *answer, const char *key, uint64_t value) {
    begin_value(answer, key);
    ntr_out_text(&answer->out, "\"0x");
    ntr_out_hex(&answer->out, value);
    ntr_out_char(&answer->out, '"');
}

void ntr_answer_bool(ntr_answer *answer, const char *key, bool value) {
    begin_value(answer, key);
    ntr_out_text(&answer->out, value ? "true" : "false");
}

void ntr_answer_text(ntr_answer *answer, const char *key, const char *text) {
    char copy[NTR_OUT_SHORT + 4];
    begin_value(answer, key);
    ntr_out_json(&answer->out, text ? ntr_out_shorten(text, copy) : NULL);
}

void ntr_answer_exact(ntr_answer *answer, const char *key, const char *text) {
    begin_value(answer, key);
    ntr_out_json(&answer->out, text);
}

void ntr_answer_bytes(ntr_answer *answer, const char *key, const uint8_t *bytes, size_t size) {
    begin_value(answer, key);
    ntr_out_char(&answer->out, '"');
    for (size_t i = 0; i < size; i++) ntr_out_format(&answer->out, "%02x", bytes[i]);
    ntr_out_char(&answer->out, '"');
}

/* Returns the index of the function in the answer. */
static ntr_status name(ntr_answer *answer, uint32_t function, uint32_t *index) {
    const size_t old = answer->index_capacity;
    if (function >= old) {
        if (ntr_reserve(answer->allocator, (void **)&answer->index, &answer->index_capacity, (size_t)function + 1,
                        sizeof *answer->index))
            return NTR_E_MEMORY;
        memset(answer->index + old, 0, (answer->index_capacity - old) * sizeof *answer->index);
    }
    if (!answer->index[function]) {
        if (ntr_reserve(answer->allocator, (void **)&answer->functions, &answer->function_capacity,
                        answer->function_count + 1, sizeof *answer->functions))
            return NTR_E_MEMORY;
        answer->functions[answer->function_count] = function;
        answer->index[function] = (uint32_t)++answer->function_count;
    }
    *index = answer->index[function] - 1;
    return NTR_OK;
}

void ntr_answer_function(ntr_answer *answer, const char *key, uint32_t function) {
    uint32_t index = 0;
    const ntr_status status = name(answer, function, &index);
    if (status != NTR_OK && !answer->out.status) answer->out.status = status;
    ntr_answer_number(answer, key, index);
}

void ntr_answer_names(ntr_answer *answer, const ntr_functions *functions) {
    ntr_answer_open(answer, "functions", '[');
    for (size_t i = 0; i < answer->function_count; i++) {
        const ntr_function *function = ntr_functions_get(functions, answer->functions[i]);
        ntr_answer_open(answer, NULL, '{');
        ntr_answer_text(answer, "name", function ? function->name : NULL);
        if (function && function->high > function->low) ntr_answer_hex(answer, "address", function->low);
        if (function && function->file) ntr_answer_exact(answer, "file", function->file);
        if (function && function->line) ntr_answer_number(answer, "line", function->line);
        if (function && function->image) ntr_answer_text(answer, "image", function->image);
        ntr_answer_close(answer, '}');
    }
    ntr_answer_close(answer, ']');
}

ntr_status ntr_answer_end(ntr_answer *answer) {
    return ntr_out_flush(&answer->out);
}

void ntr_answer_release(ntr_answer *answer) {
    ntr_dealloc(answer->allocator, answer->text);
    ntr_dealloc(answer->allocator, answer->functions);
    ntr_dealloc(answer->allocator, answer->index);
}
