#include "system/page.h"

#include <string.h>

void page_init(register_page *page, ntr_component component) {
    memset(page, 0, sizeof *page);
    page->component = (uint8_t)component;
}

void page_fix(register_page *page, ntr_bits bits, uint32_t value) {
    page->rules[bits] = (field_rule){RULE_FIXED, value, value, value};
}

void page_allow(register_page *page, ntr_bits bits, uint32_t mask, uint32_t reset) {
    page->rules[bits] = (field_rule){RULE_MASK, mask, reset & ~mask, reset};
}

void page_choose(register_page *page, ntr_bits bits, uint32_t set, uint32_t reset) {
    page->rules[bits] = (field_rule){RULE_SET, set, 0, reset};
}

void page_choose_mode(register_page *page, ntr_bits bits, uint32_t set, uint32_t reset) {
    page->rules[bits] = (field_rule){RULE_MODE, set, 0, reset};
}

void page_flag(register_page *page, ntr_bits bits, bool there) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    if (there)
        page_allow(page, bits, ntr_bits_mask(info) >> info->low, 0);
    else
        page_fix(page, bits, 0);
}

static uint32_t offset_of(const ntr_register_info *row, unsigned number) {
    return row->offset + number * row->stride;
}

bool page_has(const register_page *page, ntr_register reg, unsigned number) {
    const ntr_register_info *row = ntr_register_get(reg);
    if (row->component == NTR_COMPONENT_TIMESTAMP) return page->timestamps;
    if (row->component == NTR_COMPONENT_CORESIGHT)
        return ntr_component_get(page->component)->type > NTR_COMPONENT_TYPE_MAX;
    if (row->component != page->component) return false;
    if (row->count == 1) return true;
    return number < (row->offset < NTR_TE_COMP_CONTROL ? page->filters : page->comparators);
}

uint32_t page_read(const register_page *page, uint32_t offset) {
    return offset < PAGE_BYTES ? page->words[offset / 4] : 0;
}

uint32_t page_get_at(const register_page *page, ntr_bits bits, unsigned number) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    return ntr_bits_value(info, page->words[offset_of(ntr_register_get(info->reg), number) / 4]);
}

void page_put_at(register_page *page, ntr_bits bits, unsigned number, uint32_t value) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    const uint32_t mask = ntr_bits_mask(info);
    uint32_t *word = &page->words[offset_of(ntr_register_get(info->reg), number) / 4];
    *word = (*word & ~mask) | (value << info->low & mask);
}

void page_reset(register_page *page) {
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        const ntr_register reg = (ntr_register)ntr_bits_get(bits)->reg;
        for (unsigned number = 0; number < ntr_register_get(reg)->count; number++)
            if (page_has(page, reg, number)) page_put_at(page, (ntr_bits)bits, number, page->rules[bits].reset);
    }
}

static bool in_set(uint32_t set, uint32_t value) {
    return value < 32 && (set >> value & 1);
}

/* An illegal value leaves the old one. RULE_MODE chooses the lowest legal value other than 0 when the old one is 0, so
 * that trTeInstMode never becomes 0 by an illegal write (TC-8). */
static uint32_t choose(const field_rule *rule, uint32_t old, uint32_t value) {
    if (in_set(rule->legal, value)) return value;
    if (old || rule->kind != RULE_MODE) return old;
    const uint32_t others = rule->legal & ~1u;
    return others ? (uint32_t)__builtin_ctz(others) : 0;
}

static uint32_t legal_value(const field_rule *rule, const ntr_bits_info *info, uint32_t old, uint32_t value) {
    switch (info->access) {
    case NTR_ACCESS_RO:
    case NTR_ACCESS_W1: return old;
    case NTR_ACCESS_RW1C: return old & ~value;
    default: break;
    }
    switch (rule->kind) {
    case RULE_MASK: return (value & rule->legal) | rule->fixed;
    case RULE_SET:
    case RULE_MODE: return choose(rule, old, value);
    default: return rule->legal;
    }
}

void page_write(register_page *page, ntr_register reg, unsigned number, uint32_t word) {
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        const ntr_bits_info *info = ntr_bits_get(bits);
        if (info->reg != reg) continue;
        const uint32_t old = page_get_at(page, (ntr_bits)bits, number);
        page_put_at(page, (ntr_bits)bits, number,
                    legal_value(&page->rules[bits], info, old, ntr_bits_value(info, word)));
    }
}
