/* Finds the decisions of a source file with libclang. */
#ifndef NTR_DECISION_PARSE_H
#define NTR_DECISION_PARSE_H

#include "decision/record.h"

typedef struct ntr_parse_unit {
    const char *file;               /* the main file, as it can be opened */
    const char *const *arguments;   /* of libclang */
    size_t argument_count;
    const char *const *only;        /* as in ntr_source_options */
    size_t only_count;
    ntr_source_guard guard;         /* as well */
} ntr_parse_unit;

typedef struct ntr_parser ntr_parser;

/* Loads libclang. Returns NULL when it is missing or when out of memory. */
ntr_parser *ntr_parser_new(const ntr_allocator *allocator);
void ntr_parser_free(ntr_parser *parser);
/* Stores the version of libclang in `text`. */
void ntr_parser_version(ntr_parser *parser, char *text, size_t size);

/* Adds the decisions of a unit. Returns NTR_OK; NTR_E_FORMAT when it cannot be parsed, with the reason in `why`;
 * NTR_E_MEMORY. */
ntr_status ntr_parser_parse(ntr_parser *parser, ntr_decisions *decisions, const ntr_parse_unit *unit, char *why,
                            size_t size);

#endif
