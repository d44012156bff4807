/* Writing an answer: JSON without white space, names said once.
 *
 * Numbers above 2^53 - 1 are written as strings, since few readers keep such numbers exact. Addresses are strings,
 * "0x". A function is written as its index in the array "functions" at the end of the answer. */
#ifndef NTR_EXPLORE_ANSWER_H
#define NTR_EXPLORE_ANSWER_H

#include "export/out.h"

#include <ntrace/callstack.h>

/* More bytes are an error: no answer needs them. */
enum { NTR_ANSWER_MAX = 16 << 20 };

typedef struct ntr_answer {
    const ntr_allocator *allocator;
    char *text;
    size_t size, capacity;
    bool begun;             /* something precedes in the current object or array */
    uint32_t *functions;    /* numbers of the functions that were named, in order */
    size_t function_count, function_capacity;
    uint32_t *index; /* by function: index + 1 in `functions`; 0: not named */
    size_t index_capacity;
    ntr_out out;
} ntr_answer;

void ntr_answer_begin(ntr_answer *answer);

/* Open and close an object '{' or an array '['. `key` NULL: inside of an array. */
void ntr_answer_open(ntr_answer *answer, const char *key, char bracket);
void ntr_answer_close(ntr_answer *answer, char bracket);

void ntr_answer_number(ntr_answer *answer, const char *key, uint64_t value);
void ntr_answer_null(ntr_answer *answer, const char *key);
void ntr_answer_hex(ntr_answer *answer, const char *key, uint64_t value);
void ntr_answer_bool(ntr_answer *answer, const char *key, bool value);
void ntr_answer_text(ntr_answer *answer, const char *key, const char *text); /* NULL: null; long texts are cut */
void ntr_answer_exact(ntr_answer *answer, const char *key, const char *text); /* the same, not cut */
void ntr_answer_bytes(ntr_answer *answer, const char *key, const uint8_t *bytes, size_t size); /* as digits */

/* Writes the index of a function. */
void ntr_answer_function(ntr_answer *answer, const char *key, uint32_t function);

/* Writes the array "functions". */
void ntr_answer_names(ntr_answer *answer, const ntr_functions *functions);

/* Returns the first error, or NTR_OK. */
ntr_status ntr_answer_end(ntr_answer *answer);
void ntr_answer_release(ntr_answer *answer);

#endif
