#include "system/trace_encoder.h"

enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, SIX, ALWAYS };
enum { INPUT_IADDR, INPUT_CONTEXT, INPUT_TVAL };
enum { MODE_PRIMARY, MODE_BOTH, MODE_NOT_BOTH, MODE_LATCH };

/* Value of a field of filter or comparator `number`. */
#define AT(page, id, number)              GET_AT(page, id, NTR_##id##_OFFSET + 0x20 * (number))
#define VALUE_AT(page, low, high, number) (AT(page, low, number) | (uint64_t)AT(page, high, number) << 32)

/* ---- comparators */

/* The values of a block that are compared: one value, or all addresses from `first` to `last`. */
typedef struct value_range {
    uint64_t first, last;
    bool valid;
} value_range;

static value_range input_of(unsigned input, const ntr_ingress *b) {
    switch (input) {
    case INPUT_CONTEXT: return (value_range){b->scontext, b->scontext, true};
    case INPUT_TVAL: return (value_range){b->tval, b->tval, b->itype == NTR_ITYPE_EXCEPTION};
    default: break;
    }
    const uint64_t halfwords = b->iretire ? b->iretire - (1ull << b->ilastsize) : 0;
    return (value_range){b->iaddr, b->iaddr + 2 * halfwords, !b->no_iaddr};
}

static bool compare(unsigned function, value_range input, uint64_t match) {
    if (!input.valid) return false;
    switch (function) {
    case EQUAL: return input.first <= match && match <= input.last;
    case NOT_EQUAL: return input.first != match || input.last != match;
    case LESS: return input.first < match;
    case LESS_EQUAL: return input.first <= match;
    case GREATER: return input.last > match;
    default: return input.last >= match;
    }
}

static bool secondary_matches(const register_page *page, unsigned n, const ntr_ingress *b) {
    const unsigned function = AT(page, TE_COMP_S_FUNCTION, n);
    if (function == SIX || function == ALWAYS) return true;
    return compare(function, input_of(AT(page, TE_COMP_S_INPUT, n), b),
                   VALUE_AT(page, TE_COMP_S_LOW, TE_COMP_S_HIGH, n));
}

/* With a mask, the addresses of a block are not a contiguous range. They are compared one by one. */
static bool compare_masked(unsigned function, value_range input, uint64_t match, uint64_t mask) {
    if (!input.valid) return false;
    for (uint64_t value = input.first;; value += 2) {
        const value_range one = {value & mask, value & mask, true};
        if (compare(function, one, match & mask)) return true;
        if (value >= input.last) return false;
    }
}

static bool primary_matches(const register_page *page, unsigned n, const ntr_ingress *b) {
    const unsigned function = AT(page, TE_COMP_P_FUNCTION, n);
    if (function == SIX) return false;
    if (function == ALWAYS) return true;
    const value_range input = input_of(AT(page, TE_COMP_P_INPUT, n), b);
    const uint64_t match = VALUE_AT(page, TE_COMP_P_LOW, TE_COMP_P_HIGH, n);
    if (AT(page, TE_COMP_S_FUNCTION, n) != SIX) return compare(function, input, match);
    return compare_masked(function, input, match, VALUE_AT(page, TE_COMP_S_LOW, TE_COMP_S_HIGH, n));
}

/* Whether one instruction of the block matches as MODE_BOTH and MODE_NOT_BOTH ask for. Both inputs are compared at the
 * same instruction. */
static bool any_instruction(const register_page *page, unsigned n, const ntr_ingress *b, bool both) {
    const uint64_t halfwords = b->iretire ? b->iretire - (1ull << b->ilastsize) : 0;
    ntr_ingress one = *b;
    one.iretire = 0; /* input_of() then has one address */
    for (uint64_t at = 0; at <= halfwords; at++, one.iaddr += 2)
        if ((primary_matches(page, n, &one) && secondary_matches(page, n, &one)) == both) return true;
    return false;
}

/* Match mode 3: true from an instruction with a primary match to one with a secondary match, instruction by
 * instruction. */
static bool from_to(bool *latched, const register_page *page, unsigned n, const ntr_ingress *b) {
    const uint64_t halfwords = b->iretire ? b->iretire - (1ull << b->ilastsize) : 0;
    bool any = false;
    ntr_ingress one = *b;
    one.iretire = 0; /* input_of() then has one address */
    for (uint64_t at = 0; at <= halfwords; at++, one.iaddr += 2) {
        const bool inside = *latched || primary_matches(page, n, &one);
        any |= inside;
        *latched = inside && !secondary_matches(page, n, &one);
    }
    return any;
}

static bool combine(filter_state *filters, const register_page *page, unsigned n, const ntr_ingress *b, bool primary,
                    bool secondary) {
    switch (AT(page, TE_COMP_MATCH_MODE, n)) {
    case MODE_PRIMARY: return primary;
    case MODE_BOTH: return primary && secondary && any_instruction(page, n, b, true);
    case MODE_NOT_BOTH: return !(primary && secondary) || any_instruction(page, n, b, false);
    default: return from_to(&filters->latched[n], page, n, b);
    }
}

/* Returns a set in which bit n is the result of comparator n. Sets *notify when one of them requests a report. */
static unsigned judge_comparators(filter_state *filters, const register_page *page, const ntr_ingress *b,
                                  bool *notify) {
    unsigned set = 0;
    for (unsigned n = 0; n < page->comparators; n++) {
        const bool primary = primary_matches(page, n, b), secondary = secondary_matches(page, n, b);
        if (combine(filters, page, n, b, primary, secondary)) set |= 1u << n;
        *notify |= primary && AT(page, TE_COMP_P_NOTIFY, n) && AT(page, TE_COMP_P_INPUT, n) == INPUT_IADDR;
        *notify |= secondary && AT(page, TE_COMP_S_NOTIFY, n) && AT(page, TE_COMP_S_INPUT, n) == INPUT_IADDR;
    }
    return set;
}

void filters_comparator_written(filter_state *filters, const register_page *page, unsigned number) {
    filters->latched[number] =
        AT(page, TE_COMP_MATCH_MODE, number) == MODE_LATCH && AT(page, TE_COMP_P_FUNCTION, number) == SIX;
}

/* ---- filters */

static bool is_trap(const ntr_ingress *b) {
    return b->itype == NTR_ITYPE_EXCEPTION || b->itype == NTR_ITYPE_INTERRUPT;
}

/* Returns whether the trap at the end of this block opens the window of the filter. */
static bool opens(const register_page *page, unsigned n, const ntr_ingress *b) {
    const bool interrupts = AT(page, TE_FILTER_MATCH_VALUE_INTERRUPT, n);
    bool match = is_trap(b);
    if (AT(page, TE_FILTER_MATCH_INTERRUPT, n))
        match &= b->itype == (interrupts ? NTR_ITYPE_INTERRUPT : NTR_ITYPE_EXCEPTION);
    if (AT(page, TE_FILTER_MATCH_ECAUSE, n)) {
        const uint64_t causes =
            VALUE_AT(page, TE_FILTER_MATCH_CHOICE_ECAUSE_LOW, TE_FILTER_MATCH_CHOICE_ECAUSE_HIGH, n);
        match &= b->itype == NTR_ITYPE_EXCEPTION || AT(page, TE_FILTER_MATCH_INTERRUPT, n);
        match &= b->cause < 64 && (causes >> b->cause & 1);
    }
    return match;
}

/* Returns whether the block is in the window of the filter: from the block that ends with the trap to the block that
 * ends with its return. A saturated counter closes the window early. */
static bool in_window(filter_state *filters, const register_page *page, unsigned n, unsigned trap_depth,
                      const ntr_ingress *b) {
    uint16_t *depth = &filters->depth[n];
    if (!*depth) {
        *depth = opens(page, n, b);
        return *depth != 0;
    }
    if (is_trap(b) && *depth < trap_depth)
        ++*depth;
    else if (b->itype == NTR_ITYPE_TRAP_RETURN)
        --*depth;
    return true;
}

static bool comparators_match(const register_page *page, unsigned n, unsigned comparators) {
    if (AT(page, TE_FILTER_MATCH_COMP1, n) && !(comparators >> AT(page, TE_FILTER_COMP1, n) & 1)) return false;
    if (AT(page, TE_FILTER_MATCH_COMP2, n) && !(comparators >> AT(page, TE_FILTER_COMP2, n) & 1)) return false;
    return !AT(page, TE_FILTER_MATCH_COMP3, n) || (comparators >> AT(page, TE_FILTER_COMP3, n) & 1);
}

static bool matches(filter_state *filters, const register_page *page, unsigned n, unsigned trap_depth,
                    unsigned comparators, const ntr_ingress *b) {
    const bool window = AT(page, TE_FILTER_MATCH_ECAUSE, n) || AT(page, TE_FILTER_MATCH_INTERRUPT, n);
    bool match = AT(page, TE_FILTER_ENABLE, n);
    if (window) match &= in_window(filters, page, n, trap_depth, b);
    if (AT(page, TE_FILTER_MATCH_PRIVILEGE, n)) match &= AT(page, TE_FILTER_MATCH_CHOICE_PRIVILEGE, n) >> b->priv & 1;
    if (AT(page, TE_FILTER_MATCH_IMPDEF, n))
        match &= !((b->impdef ^ AT(page, TE_FILTER_VALUE_IMPDEF, n)) & AT(page, TE_FILTER_MASK_IMPDEF, n));
    return match && comparators_match(page, n, comparators);
}

unsigned filters_judge(filter_state *filters, const register_page *page, unsigned trap_depth,
                       const ntr_ingress *block) {
    const uint32_t selected = GET(page, TE_INST_FILTERS_SET);
    bool notify = false, pass = !selected;
    const unsigned comparators = judge_comparators(filters, page, block, &notify);
    for (unsigned n = 0; n < page->filters; n++)
        if (selected >> n & 1) pass |= matches(filters, page, n, trap_depth, comparators, block);
    return (pass ? NTR_QUALIFY_TRACE : 0u) | (notify ? NTR_QUALIFY_NOTIFY : 0u);
}
