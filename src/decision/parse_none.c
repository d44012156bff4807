/* Implementation for builds without libclang. */
#include "decision/parse.h"

ntr_parser *ntr_parser_new(const ntr_allocator *allocator) {
    (void)allocator;
    return NULL;
}

void ntr_parser_free(ntr_parser *parser) {
    (void)parser;
}

void ntr_parser_version(ntr_parser *parser, char *text, size_t size) {
    (void)parser;
    if (size) text[0] = '\0';
}

ntr_status ntr_parser_parse(ntr_parser *parser, ntr_decisions *decisions, const ntr_parse_unit *unit, char *why,
                            size_t size) {
    (void)parser;
    (void)decisions;
    (void)unit;
    (void)why;
    (void)size;
    return NTR_E_UNSUPPORTED;
}
