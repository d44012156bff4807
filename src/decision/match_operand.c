/* Which outcome of a branch is true, by the constants with which its code compares.
 *
 * Conditions that compare one operand with constants are a function of this operand: c >= '0' && c <= '9' is true for
 * 48 to 57. The code before the branch is a function of a register, too: addiw T, C, -48; li S, 9; bltu S, T, L is
 * taken for all but 48 to 57. When both are equal for every value that the type of the operand has, or always opposite,
 * the branch tests these conditions, all of them, and its outcome has the value that the source gives it.
 *
 * A register that has the truth value of a comparison, 0 or 1, may be the inverse one: !x is computed with XORI and
 * tested with BNEZ. So conditions that only distinguish 0 and 1, such as x != 0, need an operand that is loaded, or
 * masked.
 *
 * Every value is compared for types of 1 and 2 bytes. For larger types, the code may only add constants, extend, and
 * compare. Then both functions change only where a sum passes a constant or the range of a word, and values on both
 * sides of all these places are compared. */
#include "decision/values.h"
#include "decision/matcher.h"

enum { BEFORE_MAX = 32, LINKS_MAX = 10, SPECIAL_MAX = 96 };

/* The straight code before a branch. */
typedef struct operand_code {
    const ntr_graph *graph;
    uint32_t from, branch;
    uint32_t bits[BEFORE_MAX]; /* of the instructions from `from` on, expanded */
    uint32_t test;           /* the branch, expanded */
} operand_code;

/* ---- the code ---------------------------------------------------------------------------------- */

static uint32_t expanded(const ntr_graph *g, uint32_t at) {
    return g->insns[at].size <= 4 ? ntr_expand(g->insns[at].bits, g->xlen) : 0;
}

/* Branches that were not taken may be on the way. */
static operand_code code_before(const ntr_graph *g, uint32_t branch) {
    operand_code c = {.graph = g, .from = branch, .branch = branch, .test = expanded(g, branch)};
    for (uint32_t at = branch; at && branch - at < BEFORE_MAX - 1 && !g->insns[at].is_target && !g->insns[at].entry;
         c.from = --at) {
        const ntr_graph_insn *before = &g->insns[at - 1];
        if (before->flow != NTR_FLOW_LINEAR && before->flow != NTR_FLOW_BRANCH) break;
        if (before->flow == NTR_FLOW_LINEAR && !expanded(g, at - 1)) break;
    }
    for (uint32_t at = c.from; at < branch; at++)
        c.bits[at - c.from] = g->insns[at].flow == NTR_FLOW_LINEAR ? expanded(g, at) : 0;
    return c;
}

static void step(ntr_values *values, uint32_t bits) {
    if (bits && !ntr_values_execute(values, bits)) ntr_values_set(values, bits >> 7 & 31, false, 0);
}

/* Executes the code up to `until`. With `root`, this register has a value before one of the instructions. */
static ntr_values execute_until(const operand_code *c, uint32_t until, const ntr_operand_root *root, uint64_t value) {
    ntr_values values = {.xlen = c->graph->xlen};
    for (uint32_t at = c->from; at <= until; at++) {
        if (root && root->at == at) ntr_values_set(&values, root->reg, true, value);
        if (at < until) step(&values, c->bits[at - c->from]);
    }
    return values;
}

/* Returns whether the branch is taken: 1 or 0, or NTR_NOT_KNOWN. */
static int outcome(const operand_code *c, const ntr_operand_root *root, uint64_t value) {
    const ntr_values values = execute_until(c, c->branch, root, value);
    const unsigned rs1 = c->test >> 15 & 31, rs2 = c->test >> 20 & 31;
    if (!ntr_values_is_known(&values, rs1) || !ntr_values_is_known(&values, rs2)) return NTR_NOT_KNOWN;
    return ntr_values_taken(c->test, ntr_values_get(&values, rs1), ntr_values_get(&values, rs2));
}

/* ---- links from the branch back to the operand --------------------------------------------------- */

/* What the code computes between the operand and the branch. */
typedef struct operand_chain {
    ntr_operand_root roots[LINKS_MAX + 1]; /* the last one is the first in the code */
    unsigned count;
    uint32_t setters[LINKS_MAX + 1]; /* the instructions that set the roots; 0: not in this code */
    uint64_t special[SPECIAL_MAX];   /* constants of the code */
    unsigned special_count;
    bool sums_only[LINKS_MAX + 1];   /* from this root on the code only adds, extends and compares */
} operand_chain;

static void add_special(operand_chain *chain, uint64_t value) {
    if (chain->special_count < SPECIAL_MAX) chain->special[chain->special_count++] = value;
}

/* Returns whether an instruction adds, extends or compares. A shift is accepted as a half of an extension from 32 bits.
 */
static bool is_sum(uint32_t insn) {
    const unsigned opcode = insn & 0x7f, funct3 = insn >> 12 & 7, funct7 = insn >> 25;
    const bool base = funct7 == 0 || funct7 == 0x20;
    const bool by_word = (funct3 == 1 || funct3 == 5) && (insn >> 20 & 0x3f) == 32,
               inverts = funct3 == 4 && insn >> 20 == 1;
    if (opcode == NTR_OPCODE_OP_IMM) return funct3 == 0 || funct3 == 2 || funct3 == 3 || inverts || by_word;
    if (opcode == NTR_OPCODE_OP_IMM_32) return funct3 == 0;
    if (opcode == NTR_OPCODE_OP) return base && (funct3 == 0 || ((funct3 == 2 || funct3 == 3) && funct7 == 0));
    return opcode == NTR_OPCODE_OP_32 && base && funct3 == 0;
}

static bool computes(uint32_t insn) {
    const unsigned opcode = insn & 0x7f;
    return opcode == NTR_OPCODE_OP_IMM || opcode == NTR_OPCODE_OP_IMM_32 || opcode == NTR_OPCODE_OP ||
           opcode == NTR_OPCODE_OP_32;
}

/* Stores the register that an instruction reads and that is not known, if it is one, and the constant that it takes. */
static bool only_operand(const operand_code *c, uint32_t at, unsigned *reg, uint64_t *constant) {
    const uint32_t insn = c->bits[at - c->from];
    const unsigned opcode = insn & 0x7f, rs1 = insn >> 15 & 31, rs2 = insn >> 20 & 31;
    const ntr_values before = execute_until(c, at, NULL, 0);
    const bool immediate = opcode == NTR_OPCODE_OP_IMM || opcode == NTR_OPCODE_OP_IMM_32;
    *constant = immediate ? (uint64_t)((int64_t)((uint64_t)insn << 32) >> 52) : 0;
    *reg = rs1;
    if (immediate) return !ntr_values_is_known(&before, rs1);
    const bool first = ntr_values_is_known(&before, rs1), second = ntr_values_is_known(&before, rs2);
    *constant = ntr_values_get(&before, first ? rs1 : rs2);
    if (first) *reg = rs2;
    return first != second;
}

/* Returns the instruction that sets a register before `at`, or `at`. */
static uint32_t setter(const operand_code *c, uint32_t at, unsigned reg) {
    for (uint32_t i = at; i-- > c->from;) {
        const uint32_t insn = c->bits[i - c->from], opcode = insn & 0x7f;
        if (insn && opcode != NTR_OPCODE_STORE && opcode != NTR_OPCODE_BRANCH && (insn >> 7 & 31) == reg) return i;
    }
    return at;
}

static void find_chain(const operand_code *c, unsigned reg, operand_chain *chain) {
    uint32_t at = c->branch, by;
    bool sums = true;
    while (chain->count <= LINKS_MAX) {
        uint64_t constant;
        by = setter(c, at, reg);
        const uint32_t insn = by == at ? 0 : c->bits[by - c->from];
        chain->roots[chain->count] = (ntr_operand_root){by == at ? c->from : by + 1, (uint8_t)reg};
        chain->setters[chain->count] = insn;
        chain->sums_only[chain->count++] = sums;
        if (by == at || !computes(insn) || !only_operand(c, by, &reg, &constant)) return;
        sums = sums && is_sum(insn);
        add_special(chain, constant);
        at = by;
    }
}

/* ---- comparison -------------------------------------------------------------------------------- */

/* What is compared: the conditions of the source, and the code with the operand at one place. */
typedef struct operand_comparison {
    const operand_code *code;
    const ntr_decision_record *record;
    ntr_group group;
    ntr_integer_type type;
    ntr_operand_root root;
    unsigned loaded; /* bytes of the load of the operand; 0: it is not loaded */
    bool zeros; /* ... which extends with zeros */
    bool truth_differs; /* the operands 0 and 1 have different values */
    bool seen[2][2]; /* [value of the source][taken] */
    bool rest[2]; /* values of the source for operands that are not 0 or 1 */
} operand_comparison;

/* Returns what the register contains: values are extended as in calls, and as their load does. */
static uint64_t in_register(const operand_comparison *o, int64_t value) {
    const ntr_integer_type as = o->loaded ? (ntr_integer_type){o->type.size, !o->zeros}
                                          : (ntr_integer_type){o->type.size, o->type.is_signed || o->type.size == 4};
    return (uint64_t)ntr_integer_of(as, (uint64_t)value);
}

/* Compares one value. Returns false when an outcome is not known. */
static bool compare_value(operand_comparison *o, int64_t value) {
    bool source;
    value = ntr_integer_of(o->type, (uint64_t)value);
    const int taken = outcome(o->code, &o->root, in_register(o, value));
    if (taken == NTR_NOT_KNOWN || !ntr_group_value(o->record, &o->group, value, &source)) return false;
    o->seen[source][taken] = true;
    if (value != 0 && value != 1) o->rest[source] = true;
    return !(o->seen[source][!taken] || o->seen[!source][taken]);
}

static bool compare_around(operand_comparison *o, uint64_t value) {
    return compare_value(o, (int64_t)(value - 1)) && compare_value(o, (int64_t)value) &&
           compare_value(o, (int64_t)(value + 1));
}

static bool compare_all(operand_comparison *o) {
    const uint64_t count = UINT64_C(1) << 8 * o->type.size;
    for (uint64_t value = 0; value < count; value++)
        if (!compare_value(o, (int64_t)value)) return false;
    return true;
}

/* Compares around each place at which one of the functions may change. Sums of several constants are the sums of all
 * but the first ones, because the code adds them one after the other. */
static bool compare_special(operand_comparison *o, const operand_chain *chain) {
    static const uint64_t words[] = {
        0, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX << 31, UINT64_MAX << 32};
    enum { WORD_PLACES = sizeof words / sizeof *words };
    uint64_t places[SPECIAL_MAX + WORD_PLACES];
    unsigned count = 0;
    for (unsigned i = 0; i < WORD_PLACES; i++) places[count++] = words[i];
    for (unsigned i = 0; i < chain->special_count; i++) places[count++] = chain->special[i];
    for (unsigned i = o->group.first; i <= o->group.last; i++)
        if (!compare_around(o, (uint64_t)o->record->flow[i].compared.constant)) return false;
    for (unsigned i = 0; i < count; i++)
        for (unsigned first = 0; first <= chain->special_count; first++)
            for (uint64_t last = first, sum = 0; last <= chain->special_count;
                 sum += last < chain->special_count ? chain->special[last] : 0, last++)
                if (!compare_around(o, places[i] - sum) || !compare_around(o, places[i] + sum)) return false;
    return true;
}

/* Returns whether the register that an instruction sets may have the truth value of a comparison: not what is loaded
 * from outside of the stack frame, nor a mask without bit 0. */
static bool may_be_truth(const ntr_graph *g, uint32_t setter) {
    const unsigned opcode = setter & 0x7f, rs1 = setter >> 15 & 31;
    if (opcode == NTR_OPCODE_OP_IMM && (setter >> 12 & 7) == 7) return setter >> 20 & 1;
    if (opcode != NTR_OPCODE_LOAD || rs1 == NTR_REGISTER_SP) return true;
    for (size_t i = 0; rs1 == NTR_REGISTER_FP && i < g->count; i++) /* a frame pointer */
        if ((expanded(g, (uint32_t)i) & 0xfffff) == (NTR_OPCODE_OP_IMM | NTR_REGISTER_FP << 7 | NTR_REGISTER_SP << 15))
            return true;
    return false;
}

static int compare_root(operand_comparison *o, const operand_chain *chain, unsigned link) {
    const uint32_t setter = chain->setters[link];
    const bool is_load = (setter & 0x7f) == NTR_OPCODE_LOAD;
    o->root = chain->roots[link];
    o->loaded = is_load ? 1u << (setter >> 12 & 3) : 0;
    o->zeros = is_load && (setter >> 14 & 1);
    for (unsigned i = 0; i < 2; i++) o->seen[i][0] = o->seen[i][1] = o->rest[i] = false;
    if (o->loaded && o->loaded != o->type.size) return NTR_NOT_KNOWN;
    if (o->type.size > 2 && !chain->sums_only[link]) return NTR_NOT_KNOWN;
    if (!(o->type.size <= 2 ? compare_all(o) : compare_special(o, chain))) return NTR_NOT_KNOWN;
    const bool several = o->rest[0] && o->rest[1] && o->group.first != o->group.last;
    if (o->truth_differs && !several && may_be_truth(o->code->graph, setter)) return NTR_NOT_KNOWN;
    if (o->seen[1][1] && o->seen[0][0]) return 1;
    return o->seen[1][0] && o->seen[0][1] ? 0 : NTR_NOT_KNOWN;
}

int ntr_matcher_by_operand(const ntr_matcher *x, size_t i, ntr_operand_root *root) {
    const ntr_match *m = x->match;
    const uint8_t condition = x->best.condition[i];
    operand_comparison o = {.record = m->ungrouped ? m->ungrouped : m->record};
    operand_chain chain = {0};
    bool value;
    if (!m->kind.gnu || !(m->kind.unoptimized || m->kind.debug)) return NTR_NOT_KNOWN;
    o.group = m->ungrouped ? m->grouping.groups[0][condition] : (ntr_group){.first = condition, .last = condition};
    for (unsigned k = 0; !m->ungrouped && k < o.record->tree_count; k++)
        if (o.record->tree[k].operator== NTR_LEAF && o.record->tree[k].condition == condition) o.group.top = (uint8_t)k;
    if (!ntr_group_value(o.record, &o.group, 0, &value)) return NTR_NOT_KNOWN;
    ntr_group_value(o.record, &o.group, 1, &o.truth_differs);
    o.truth_differs ^= value;
    o.type = o.record->flow[o.group.first].compared.type;
    if (8u * o.type.size > m->graph->xlen) return NTR_NOT_KNOWN;
    const operand_code code = code_before(m->graph, m->candidates[i].insn);
    const ntr_values at_branch = execute_until(&code, code.branch, NULL, 0);
    const unsigned rs1 = code.test >> 15 & 31, rs2 = code.test >> 20 & 31;
    if ((code.test & 0x7f) != NTR_OPCODE_BRANCH ||
        ntr_values_is_known(&at_branch, rs1) == ntr_values_is_known(&at_branch, rs2))
        return NTR_NOT_KNOWN;
    const bool first = ntr_values_is_known(&at_branch, rs1);
    add_special(&chain, ntr_values_get(&at_branch, first ? rs1 : rs2));
    o.code = &code;
    find_chain(&code, first ? rs2 : rs1, &chain);
    for (unsigned link = 0; link < chain.count; link++) {
        const int taken_is = compare_root(&o, &chain, link);
        if (taken_is == NTR_NOT_KNOWN) continue;
        if (root) *root = o.root;
        return taken_is;
    }
    return NTR_NOT_KNOWN;
}
