/* Tokens of C and C++ sources, as far as the structure of statements needs them (source_regions.h): comments are left
 * out, each directive of the preprocessor is one token. */
#ifndef NTR_ANALYSIS_SOURCE_TOKENS_H
#define NTR_ANALYSIS_SOURCE_TOKENS_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    NTR_TOKEN_NAME = 'a', /* also a keyword */
    NTR_TOKEN_VALUE = '0', /* a number, a character or a string */
    NTR_TOKEN_DIRECTIVE = '#',
    NTR_TOKEN_AND = 'A', /* && */
    NTR_TOKEN_OR = 'O', /* || */
    NTR_TOKEN_SCOPE = 'S', /* :: */
    NTR_TOKEN_ARROW = 'R', /* -> */
};

/* Bytes of a line count from 1, as compilers count columns. */
typedef struct ntr_text_place {
    uint32_t line, column;
} ntr_text_place;

typedef struct ntr_source_token {
    ntr_text_place at, end;
    const char *text;
    uint32_t size;
    uint32_t match; /* of a bracket: the index of the other one; else its own index */
    char kind; /* NTR_TOKEN_*, otherwise the character itself */
} ntr_source_token;

typedef struct ntr_source_tokens {
    ntr_source_token *items;
    size_t count, capacity;
} ntr_source_tokens;

int ntr_text_place_compare(ntr_text_place a, ntr_text_place b);

/* Returns whether a token is this name; for a directive, whether it is this one. */
bool ntr_source_token_is(const ntr_source_token *token, const char *name);

/* Appends the tokens of a text, which they refer to. Errors: NTR_E_MEMORY. */
ntr_status ntr_source_tokens_read(ntr_source_tokens *tokens, ntr_bytes text, const ntr_allocator *allocator);

/* Returns whether code of the lines [first, last] was compiled. */
typedef bool (*ntr_source_has_code)(void *user, uint32_t first, uint32_t last);

/* Appends the tokens from `line` on to those on `last` and to the end of the brackets that are open there, without
 * directives. Of the groups of a conditional directive, the one that has code is taken, or none. Brackets have their
 * match. Errors: NTR_E_SYNTAX (two groups have code, or brackets do not fit), NTR_E_MEMORY. */
ntr_status ntr_source_tokens_select(ntr_source_tokens *selected, const ntr_source_tokens *file, uint32_t line,
                                    uint32_t last, ntr_source_has_code has_code, void *user,
                                    const ntr_allocator *allocator);

#endif
