/* The text of a file of --instructions, a line for each encoding:
 *
 *     MASK MATCH CLASS [offset=FIELDS[<<SHIFT]]
 *
 * An instruction is of a line if its bits AND MASK are MATCH, and its length is that of MATCH. FIELDS are the bits of
 * the offset from the instruction to its target, the most significant first, as HIGH-LOW or as one bit, with `|`
 * between them; or B, J, CB, CJ for the formats of the base and of C. The offset is signed. */
#include "program/rules.h"
#include "base/text.h"

#include <string.h>

static const struct rule_class {
    const char *name;
    uint8_t flow, itype, rd;
    bool direct, loop, custom;
} classes[] = {
    {"linear", NTR_FLOW_LINEAR, NTR_ITYPE_NONE, 0, false, false, false},
    {"custom", NTR_FLOW_LINEAR, NTR_ITYPE_NONE, 0, false, false, true},
    {"loop", NTR_FLOW_LINEAR, NTR_ITYPE_NONE, 0, false, true, false},
    {"branch", NTR_FLOW_BRANCH, NTR_ITYPE_NOT_TAKEN, 0, true, false, false},
    {"jump", NTR_FLOW_DIRECT_JUMP, NTR_ITYPE_DIRECT_JUMP, 0, true, false, false},
    {"call", NTR_FLOW_DIRECT_CALL, NTR_ITYPE_DIRECT_CALL, 1, true, false, false},
    {"indirect-jump", NTR_FLOW_INDIRECT_JUMP, NTR_ITYPE_INDIRECT_JUMP, 0, false, false, false},
    {"indirect-call", NTR_FLOW_INDIRECT_CALL, NTR_ITYPE_INDIRECT_CALL, 1, false, false, false},
    {"co-swap", NTR_FLOW_CO_SWAP, NTR_ITYPE_CO_SWAP, 1, false, false, false},
    {"return", NTR_FLOW_RETURN, NTR_ITYPE_RETURN, 0, false, false, false},
    {"trap", NTR_FLOW_TRAP, NTR_ITYPE_EXCEPTION, 0, false, false, false},
    {"trap-return", NTR_FLOW_TRAP_RETURN, NTR_ITYPE_TRAP_RETURN, 0, false, false, false},
};
#define EXPECTED_CLASS                                                                                                 \
    "linear, custom, loop, branch, jump, call, indirect-jump, indirect-call, co-swap, return, trap or trap-return"
#define EXPECTED_OFFSET "offset=FIELDS, such as offset=31|7|30-25|11-8<<1, or offset=B, J, CB or CJ"

static const struct {
    const char *name, *fields;
    unsigned width; /* of the instruction */
} formats[] = {
    {"B", "31|7|30-25|11-8<<1", 32},
    {"J", "31|19-12|20|30-21<<1", 32},
    {"CB", "12|6-5|2|11-10|4-3<<1", 16},
    {"CJ", "12|8|10-9|6|7|2|11|5-3<<1", 16},
};

/* Returns the number of bits of the instruction that a rule can name. */
static unsigned width_of(const ntr_rule *rule) {
    const unsigned bits = 8 * ntr_insn_length((uint16_t)rule->match);
    return bits < 64 ? bits : 64;
}

bool ntr_rule_word(const char **at, const char *line_end, const char **end) {
    while (*at < line_end && (**at == ' ' || **at == '\t' || **at == '\r')) ++*at;
    for (*end = *at; *end < line_end && **end != ' ' && **end != '\t' && **end != '\r';) ++*end;
    return *end > *at;
}

static bool is_word(const char *at, const char *end, const char *word) {
    return strlen(word) == (size_t)(end - at) && memcmp(at, word, strlen(word)) == 0;
}

static bool has_bit(const ntr_rule *rule, uint64_t bit) {
    for (unsigned i = 0; i < rule->bit_count; i++)
        if (rule->bits[i] == bit) return true;
    return false;
}

/* A bit, or bits from the higher to the lower one, each once. Returns the end, or NULL. */
static const char *take_field(const char *at, const char *end, ntr_rule *rule) {
    uint64_t high, low;
    if (!(at = ntr_read_number(at, end, &high))) return NULL;
    low = high;
    if (at < end && *at == '-' && !(at = ntr_read_number(at + 1, end, &low))) return NULL;
    if (high >= width_of(rule) || low > high || rule->bit_count + (high - low) + 1 > sizeof rule->bits) return NULL;
    for (uint64_t bit = high + 1; bit-- > low;) {
        if (has_bit(rule, bit)) return NULL;
        rule->bits[rule->bit_count++] = (uint8_t)bit;
    }
    return at;
}

static bool take_offset(const char *at, const char *end, ntr_rule *rule) {
    uint64_t shift = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (is_word(at, end, formats[i].name))
            return formats[i].width == width_of(rule) &&
                   take_offset(formats[i].fields, formats[i].fields + strlen(formats[i].fields), rule);
    while ((at = take_field(at, end, rule)) && at < end && *at == '|') at++;
    if (at && at + 2 < end && at[0] == '<' && at[1] == '<') at = ntr_read_number(at + 2, end, &shift);
    if (at != end || shift > 31) return false;
    rule->shift = (uint8_t)shift;
    return true;
}

static const char *take_class(const char *at, const char *end, ntr_rule *rule, bool *direct) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const struct rule_class *c = &classes[i];
        if (!is_word(at, end, c->name)) continue;
        rule->insn = (ntr_insn){.flow = c->flow, .itype = c->itype, .rd = c->rd, .loop = c->loop};
        rule->custom = c->custom;
        *direct = c->direct;
        return NULL;
    }
    return EXPECTED_CLASS;
}

const char *ntr_rule_parse(const char *line, const char *line_end, ntr_rule *rule, const char **found,
                           const char **found_end) {
    static const char prefix[] = "offset=";
    const size_t length = sizeof prefix - 1;
    const char *at = line, *end;
    bool direct = false;
    *rule = (ntr_rule){0};
    *found = *found_end = line_end;
    if (!ntr_rule_word(&at, line_end, &end)) return "MASK MATCH CLASS";
    for (unsigned i = 0; i < 2; i++) {
        uint64_t *to = i ? &rule->match : &rule->mask;
        if (i && (at = end, !ntr_rule_word(&at, line_end, &end))) return "MASK MATCH CLASS";
        *found = at;
        *found_end = end;
        if (ntr_parse_number(at, (size_t)(end - at), to) != NTR_OK) return "a number of at most 64 bits";
    }
    if (rule->match & ~rule->mask) return "a MATCH without bits outside of MASK";
    if (width_of(rule) < 64 && rule->mask >> width_of(rule)) {
        *found = line;
        ntr_rule_word(found, line_end, found_end);
        return "a MASK without bits behind the instruction, whose length is that of MATCH";
    }
    at = end;
    const bool has_class = ntr_rule_word(&at, line_end, &end);
    *found = at;
    *found_end = end;
    const char *expected = has_class ? take_class(at, end, rule, &direct) : EXPECTED_CLASS;
    if (expected) return expected;
    at = end;
    const bool more = ntr_rule_word(&at, line_end, &end);
    *found = at;
    *found_end = end;
    if (!direct) return more ? "the end of the line" : NULL;
    if (!more || (size_t)(end - at) < length || memcmp(at, prefix, length) != 0 || !take_offset(at + length, end, rule))
        return EXPECTED_OFFSET;
    at = end;
    if (!ntr_rule_word(&at, line_end, &end)) return NULL;
    *found = at;
    *found_end = end;
    return "the end of the line";
}

const ntr_rule *ntr_rule_find(const ntr_rule *rules, size_t count, uint64_t bits) {
    const unsigned length = ntr_insn_length((uint16_t)bits);
    if (length < 8) bits &= (UINT64_C(1) << 8 * length) - 1;
    for (size_t i = 0; i < count; i++)
        if ((bits & rules[i].mask) == rules[i].match && ntr_insn_length((uint16_t)rules[i].match) == length)
            return &rules[i];
    return NULL;
}

void ntr_rule_apply(const ntr_rule *rule, uint64_t bits, uint64_t pc, unsigned isa, ntr_insn *insn) {
    const uint8_t size = insn->size;
    uint64_t offset = 0;
    *insn = rule->insn;
    insn->size = size;
    if (!rule->bit_count) return;
    for (unsigned i = 0; i < rule->bit_count; i++) offset = offset << 1 | (bits >> rule->bits[i] & 1);
    if (offset >> (rule->bit_count - 1)) offset |= ~UINT64_C(0) << rule->bit_count;
    insn->target = (pc + (offset << rule->shift)) & ~UINT64_C(1);
    if (isa & NTR_ISA_RV32) insn->target = (uint32_t)insn->target;
}
