/* Decisions of unit tests, made from a short text. */
#ifndef NTR_TEST_DECISION_H
#define NTR_TEST_DECISION_H

#include "decision/record.h"

#include <string.h>

enum { TEST_NODES_MAX = 32 };

static ntr_decision_record record;
static ntr_condition conditions[NTR_CONDITIONS_MAX];
static ntr_condition_flow flow[NTR_CONDITIONS_MAX];
static ntr_expression tree[TEST_NODES_MAX];

/* Parses a prefix form: '&', '|' and '!' with operands; letters are conditions in order, '0' and '1' are constants. */
static uint8_t parse(const char **text) {
    char sign = *(*text)++;
    ntr_expression e = {NTR_LEAF, 0, 0, 0};
    if (sign == '&' || sign == '|') {
        e.operator= sign == '&' ? NTR_AND : NTR_OR;
        e.left = parse(text);
        e.right = parse(text);
    } else if (sign == '!') {
        e.operator= NTR_NOT;
        e.left = e.right = parse(text);
    } else {
        e.condition = (uint8_t)record.shown.condition_count++;
        conditions[e.condition].constant = sign == '0' || sign == '1';
        conditions[e.condition].value = sign == '1';
    }
    tree[record.tree_count] = e;
    return record.tree_count++;
}

/* Makes `record`. */
static void make(const char *text) {
    memset(&record, 0, sizeof record);
    memset(conditions, 0, sizeof conditions);
    record.conditions = record.shown.conditions = conditions;
    record.flow = flow;
    record.tree = tree;
    record.root = parse(&text);
    ntr_record_flow(&record);
}

#endif
