/* The registers of a component: stored values, and which bits a write may change.
 *
 * The register table defines the fields and their access types. A rule for each field defines what this component
 * implements. A field without a rule reads 0 and ignores writes. page_write applies the rules, so that discovery by
 * write and read-back finds exactly what is implemented. */
#ifndef NTR_SYSTEM_PAGE_H
#define NTR_SYSTEM_PAGE_H

#include <ntrace/registers.h>
#include <stdbool.h>

enum { PAGE_BYTES = NTR_COMPONENT_BYTES, PAGE_WORDS = PAGE_BYTES / 4 };

typedef enum rule_kind {
    RULE_FIXED = 0, /* always `legal` */
    RULE_MASK,      /* any value; only the bits in `legal` are stored, the others have the value of `fixed` */
    RULE_SET,       /* value n is legal when bit n of `legal` is set; other values leave the old one */
    RULE_MODE,      /* the same; other values never leave 0 */
} rule_kind;

typedef struct field_rule {
    uint8_t kind;
    uint32_t legal, fixed;
    uint32_t reset;
} field_rule;

typedef struct register_page {
    uint8_t component; /* ntr_component */
    uint8_t filters, comparators;
    bool timestamps;   /* the component has a timestamp unit */
    field_rule rules[NTR_BITS_COUNT];
    uint32_t words[PAGE_WORDS];
} register_page;

/* Initializes the page with all fields 0 and without rules. */
void page_init(register_page *page, ntr_component component);

/* Define rules: a fixed value, writable bits, a set of legal values. `reset` is the reset value of the model where the
 * specification does not define one. */
void page_fix(register_page *page, ntr_bits bits, uint32_t value);
void page_allow(register_page *page, ntr_bits bits, uint32_t mask, uint32_t reset);
void page_choose(register_page *page, ntr_bits bits, uint32_t set, uint32_t reset);
void page_choose_mode(register_page *page, ntr_bits bits, uint32_t set, uint32_t reset);

/* Makes all bits of the field writable when `there` is true. */
void page_flag(register_page *page, ntr_bits bits, bool there);

/* Sets all fields to their reset values. */
void page_reset(register_page *page);

/* Returns whether the register exists in this component. Its fields may still be fixed at 0. */
bool page_has(const register_page *page, ntr_register reg, unsigned number);

uint32_t page_read(const register_page *page, uint32_t offset);

/* Writes a register as software does: applies the rules; RO and W1 fields do not change, RW1C fields are cleared by
 * ones. */
void page_write(register_page *page, ntr_register reg, unsigned number, uint32_t word);

/* Access to a field as the hardware reads and sets it. */
uint32_t page_get_at(const register_page *page, ntr_bits bits, unsigned number);
void page_put_at(register_page *page, ntr_bits bits, unsigned number, uint32_t value);
static inline uint32_t page_get(const register_page *page, ntr_bits bits) {
    return page_get_at(page, bits, 0);
}
static inline void page_put(register_page *page, ntr_bits bits, uint32_t value) {
    page_put_at(page, bits, 0, value);
}

/* The same for a field that is a constant. Inline: a mask and a shift. */
#define GET_AT(page, id, at) (((page)->words[(at) / 4] & NTR_##id##_MASK) >> NTR_##id##_SHIFT)
#define GET(page, id)        GET_AT(page, id, NTR_##id##_OFFSET)
#define PUT(page, id, value)                                                                                           \
    ((page)->words[NTR_##id##_OFFSET / 4] = ((page)->words[NTR_##id##_OFFSET / 4] & ~NTR_##id##_MASK) |                \
                                            ((uint32_t)(value) << NTR_##id##_SHIFT & NTR_##id##_MASK))

#endif
