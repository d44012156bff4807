#include "decision/groups.h"

#include <string.h>

/* The conditions below a node: a range. */
typedef struct condition_range {
    uint8_t first, last;
} condition_range;

static condition_range range_of(const ntr_decision_record *r, unsigned node) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) return (condition_range){e->condition, e->condition};
    return (condition_range){range_of(r, e->left).first, range_of(r, e->operator== NTR_NOT ? e->left : e->right).last};
}

/* ---- the grouped decision ---------------------------------------------------------------------- */

typedef struct grouping_work {
    const ntr_decision_record *record;
    ntr_grouping *grouping;
    ntr_grouped_record *grouped;
    uint32_t joined;
    bool wrong;
} grouping_work;

static unsigned add_node(grouping_work *w, ntr_expression node) {
    w->grouped->tree[w->grouped->record.tree_count] = node;
    return w->grouped->record.tree_count++;
}

static unsigned add_group(grouping_work *w, unsigned top, condition_range conditions) {
    const ntr_decision_record *r = w->record;
    const size_t number = w->grouping->count++;
    const ntr_extent *end = &r->flow[conditions.last].extent;
    w->grouping->groups[0][number] = (ntr_group){(uint8_t)top, conditions.first, conditions.last};
    w->grouped->conditions[number] = r->conditions[conditions.first];
    if (conditions.first != conditions.last) w->grouped->conditions[number].constant = false;
    w->grouped->flow[number] = r->flow[conditions.first];
    w->grouped->flow[number].extent.end_line = end->end_line;
    w->grouped->flow[number].extent.end_column = end->end_column;
    return add_node(w, (ntr_expression){.operator= NTR_LEAF, .condition = (uint8_t)number});
}

static bool is_joined(const grouping_work *w, unsigned border) {
    return w->joined >> border & 1;
}

static bool all_joined(const grouping_work *w, condition_range conditions) {
    for (unsigned i = conditions.first; i < conditions.last; i++)
        if (!is_joined(w, i)) return false;
    return true;
}

/* An operand of a chain. */
typedef struct chain_operand {
    uint8_t node;
    bool negated;
} chain_operand;

/* Lists the operands of a chain of one operator. Compilers move ! to the conditions: !(a && b) || c is the chain of !a,
 * !b and c. */
static size_t list_operands(const ntr_decision_record *r, chain_operand operand, uint8_t operator, chain_operand * list,
                            size_t count) {
    const ntr_expression *e = &r->tree[operand.node];
    for (; e->operator== NTR_NOT; e = &r->tree[operand.node]) operand = (chain_operand){e->left, !operand.negated};
    const uint8_t same = operand.negated ? (operator== NTR_AND ? NTR_OR : NTR_AND) : operator;
    if (e->operator!= same) {
        list[count] = operand;
        return count + 1;
    }
    count = list_operands(r, (chain_operand){e->left, operand.negated}, operator, list, count);
    return list_operands(r, (chain_operand){e->right, operand.negated}, operator, list, count);
}

static unsigned build(grouping_work *w, unsigned node);

static unsigned build_chain(grouping_work *w, unsigned top) {
    chain_operand operands[NTR_CONDITIONS_MAX];
    const uint8_t operator= w->record->tree[top].operator;
    const size_t count = list_operands(w->record, (chain_operand){(uint8_t)top, false}, operator, operands, 0);
    unsigned whole = 0;
    for (size_t i = 0, next; i < count; i = next) {
        condition_range conditions = range_of(w->record, operands[i].node);
        for (next = i + 1; next < count && is_joined(w, conditions.last); next++)
            conditions.last = range_of(w->record, operands[next].node).last;
        bool group = next > i + 1;
        w->wrong |= group && !all_joined(w, conditions);
        unsigned part = group ? add_group(w, top, conditions) : build(w, operands[i].node);
        if (!group && operands[i].negated)
            part = add_node(w, (ntr_expression){NTR_NOT, 0, (uint8_t)part, (uint8_t)part});
        whole = i ? add_node(w, (ntr_expression){operator, 0, (uint8_t)whole, (uint8_t)part}) : part;
    }
    return whole;
}

static unsigned build(grouping_work *w, unsigned node) {
    const ntr_expression *e = &w->record->tree[node];
    if (e->operator== NTR_LEAF) return add_group(w, node, range_of(w->record, node));
    if (e->operator!= NTR_NOT) return build_chain(w, node);
    unsigned inner = build(w, e->left);
    return add_node(w, (ntr_expression){NTR_NOT, 0, (uint8_t)inner, (uint8_t)inner});
}

bool ntr_grouping_make(const ntr_decision_record *r, uint32_t joined, ntr_grouping *grouping,
                       ntr_grouped_record *grouped) {
    grouping_work w = {r, grouping, grouped, joined, false};
    grouping->count = 0;
    grouping->alternatives = 1;
    grouped->record = *r;
    grouped->record.conditions = grouped->conditions;
    grouped->record.flow = grouped->flow;
    grouped->record.tree = grouped->tree;
    grouped->record.tree_count = 0;
    grouped->record.root = (uint8_t)build(&w, r->root);
    grouped->record.shown.condition_count = grouping->count;
    ntr_record_flow(&grouped->record);
    for (size_t i = 0; i < grouping->count; i++)
        memcpy(grouping->next[i], grouped->flow[i].next, sizeof grouping->next[i]);
    return !w.wrong && grouped->record.start >= 0;
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Number of ways in which the part of a node within the range has a value: 0, 1, or 2 for several. */
static unsigned ways(const ntr_decision_record *r, unsigned node, condition_range within, bool value) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF)
        return !r->conditions[e->condition].constant || r->conditions[e->condition].value == value;
    if (e->operator== NTR_NOT) return ways(r, e->left, within, !value);
    if (range_of(r, e->left).last < within.first) return ways(r, e->right, within, value);
    if (range_of(r, e->right).first > within.last) return ways(r, e->left, within, value);
    const bool decides = e->operator== NTR_OR; /* this value of the left operand decides */
    unsigned count = ways(r, e->left, within, !decides) * ways(r, e->right, within, value);
    if (value == decides) count += ways(r, e->left, within, decides);
    return count > 2 ? 2 : count;
}

/* Stores the values of the only way. */
static void fill(const ntr_decision_record *r, unsigned node, condition_range within, bool value, char *values) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) {
        values[e->condition] = value ? 'T' : 'F';
    } else if (e->operator== NTR_NOT) {
        fill(r, e->left, within, !value, values);
    } else if (range_of(r, e->left).last < within.first) {
        fill(r, e->right, within, value, values);
    } else if (range_of(r, e->right).first > within.last) {
        fill(r, e->left, within, value, values);
    } else {
        const bool decides = e->operator== NTR_OR, by_left = value == decides && ways(r, e->left, within, decides);
        fill(r, e->left, within, by_left ? decides : !decides, values);
        if (!by_left) fill(r, e->right, within, value, values);
    }
}

static bool value_within(const ntr_decision_record *r, unsigned node, condition_range within, int64_t operand) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) return ntr_compared_value(&r->flow[e->condition].compared, operand);
    if (e->operator== NTR_NOT) return !value_within(r, e->left, within, operand);
    if (range_of(r, e->left).last < within.first) return value_within(r, e->right, within, operand);
    if (range_of(r, e->right).first > within.last) return value_within(r, e->left, within, operand);
    const bool left = value_within(r, e->left, within, operand);
    return left == (e->operator== NTR_OR) ? left : value_within(r, e->right, within, operand);
}

bool ntr_group_value(const ntr_decision_record *r, const ntr_group *group, int64_t operand, bool *value) {
    const uint64_t hash = r->flow[group->first].compared.operand;
    if (!hash) return false;
    for (unsigned i = group->first; i <= group->last; i++)
        if (r->flow[i].compared.operand != hash || r->conditions[i].constant) return false;
    *value = value_within(r, group->top, (condition_range){group->first, group->last}, operand);
    return true;
}

static bool expand(const ntr_decision_record *r, const ntr_group *groups, size_t count, const char *of_groups,
                   char *values) {
    memset(values, '-', r->shown.condition_count);
    for (size_t i = 0; i < count; i++) {
        const condition_range within = {groups[i].first, groups[i].last};
        if (of_groups[i] == '-') continue;
        if (ways(r, groups[i].top, within, of_groups[i] == 'T') != 1) return false;
        fill(r, groups[i].top, within, of_groups[i] == 'T', values);
    }
    return true;
}

bool ntr_grouping_expand(const ntr_decision_record *r, const ntr_grouping *grouping, const char *of_groups,
                         char *values) {
    char others[NTR_GROUPED_MAX];
    if (!expand(r, grouping->groups[0], grouping->count, of_groups, values)) return false;
    for (size_t i = 1; i < grouping->alternatives; i++)
        if (!expand(r, grouping->groups[i], grouping->count, of_groups, others) ||
            memcmp(others, values, r->shown.condition_count) != 0)
            return false;
    return true;
}

/* Stores the values of the conditions of a group that are evaluated. Returns its value. */
static bool fill_with(const ntr_decision_record *r, unsigned node, condition_range within, int64_t operand,
                      char *values) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) {
        const bool value = ntr_compared_value(&r->flow[e->condition].compared, operand);
        values[e->condition] = value ? 'T' : 'F';
        return value;
    }
    if (e->operator== NTR_NOT) return !fill_with(r, e->left, within, operand, values);
    if (range_of(r, e->left).last < within.first) return fill_with(r, e->right, within, operand, values);
    if (range_of(r, e->right).first > within.last) return fill_with(r, e->left, within, operand, values);
    const bool left = fill_with(r, e->left, within, operand, values);
    return left == (e->operator== NTR_OR) ? left : fill_with(r, e->right, within, operand, values);
}

bool ntr_grouping_expand_with(const ntr_decision_record *r, const ntr_grouping *grouping, const char *of_groups,
                              const int64_t *operands, uint32_t known, char *values) {
    if (grouping->alternatives != 1) return false;
    memset(values, '-', r->shown.condition_count);
    for (size_t i = 0; i < grouping->count; i++) {
        const ntr_group *group = &grouping->groups[0][i];
        const condition_range within = {group->first, group->last};
        const bool value = of_groups[i] == 'T';
        if (of_groups[i] == '-') continue;
        if (known >> i & 1) {
            if (fill_with(r, group->top, within, operands[i], values) != value) return false;
        } else {
            if (ways(r, group->top, within, value) != 1) return false;
            fill(r, group->top, within, value, values);
        }
    }
    return true;
}

bool ntr_grouping_add(ntr_grouping *grouping, const ntr_grouping *other) {
    if (grouping->alternatives == NTR_GROUPINGS_MAX || grouping->count != other->count) return false;
    if (memcmp(grouping->next, other->next, grouping->count * sizeof grouping->next[0]) != 0) return false;
    memcpy(grouping->groups[grouping->alternatives++], other->groups[0], sizeof other->groups[0]);
    return true;
}
