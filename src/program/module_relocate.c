/* Relocations of RISC-V (psABI, "Relocations"), as a kernel applies them when it loads a module. Code keeps its size:
 * nothing is relaxed.
 *
 * A pair of R_RISCV_PCREL_HI20 and LO12 has its address in the first one only: the symbol of the second one is the
 * instruction that the first one changes. Relocations of a kind that is not listed change nothing; with
 * R_RISCV_GOT_HI20, a kernel makes a table that the file does not have. */
#include "program/module_file.h"
#include "base/bytes.h"

enum module_operation {
    OP_SET,
    OP_ADD,
    OP_SUB,
    OP_PC,
    OP_PAIR
}; /* PC: relative to the place; PAIR: as the first one of a pair */
enum module_form {
    FORM_8,
    FORM_16,
    FORM_32,
    FORM_64,
    FORM_6,
    FORM_ULEB,
    FORM_B,
    FORM_J,
    FORM_U,
    FORM_I,
    FORM_S,
    FORM_CALL,
    FORM_CB,
    FORM_CJ
};

static const struct module_kind {
    uint8_t type, operation, form;
} kinds[] = {
    {R_RISCV_32, OP_SET, FORM_32},
    {R_RISCV_64, OP_SET, FORM_64},
    {R_RISCV_BRANCH, OP_PC, FORM_B},
    {R_RISCV_JAL, OP_PC, FORM_J},
    {R_RISCV_CALL, OP_PC, FORM_CALL},
    {R_RISCV_CALL_PLT, OP_PC, FORM_CALL},
    {R_RISCV_PCREL_HI20, OP_PC, FORM_U},
    {R_RISCV_PCREL_LO12_I, OP_PAIR, FORM_I},
    {R_RISCV_PCREL_LO12_S, OP_PAIR, FORM_S},
    {R_RISCV_HI20, OP_SET, FORM_U},
    {R_RISCV_LO12_I, OP_SET, FORM_I},
    {R_RISCV_LO12_S, OP_SET, FORM_S},
    {R_RISCV_ADD8, OP_ADD, FORM_8},
    {R_RISCV_ADD16, OP_ADD, FORM_16},
    {R_RISCV_ADD32, OP_ADD, FORM_32},
    {R_RISCV_ADD64, OP_ADD, FORM_64},
    {R_RISCV_SUB8, OP_SUB, FORM_8},
    {R_RISCV_SUB16, OP_SUB, FORM_16},
    {R_RISCV_SUB32, OP_SUB, FORM_32},
    {R_RISCV_SUB64, OP_SUB, FORM_64},
    {R_RISCV_RVC_BRANCH, OP_PC, FORM_CB},
    {R_RISCV_RVC_JUMP, OP_PC, FORM_CJ},
    {R_RISCV_SUB6, OP_SUB, FORM_6},
    {R_RISCV_SET6, OP_SET, FORM_6},
    {R_RISCV_SET8, OP_SET, FORM_8},
    {R_RISCV_SET16, OP_SET, FORM_16},
    {R_RISCV_SET32, OP_SET, FORM_32},
    {R_RISCV_32_PCREL, OP_PC, FORM_32},
    {59 /* PLT32 */, OP_PC, FORM_32},
    {60 /* SET_ULEB128 */, OP_SET, FORM_ULEB},
    {61 /* SUB_ULEB128 */, OP_SUB, FORM_ULEB},
};

static const uint8_t bytes_of[] = {
    [FORM_8] = 1, [FORM_16] = 2, [FORM_32] = 4, [FORM_64] = 8, [FORM_6] = 1,    [FORM_ULEB] = 1, [FORM_B] = 4,
    [FORM_J] = 4, [FORM_U] = 4,  [FORM_I] = 4,  [FORM_S] = 4,  [FORM_CALL] = 8, [FORM_CB] = 2,   [FORM_CJ] = 2};

static const struct module_kind *kind_of(uint32_t type) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].type == type) return &kinds[i];
    return NULL;
}

/* ---- fields ------------------------------------------------------------------------------------ */

/* Returns bits `from` and up of a value, `count` of them, at bit `to`. */
static uint32_t bits(uint64_t value, unsigned from, unsigned count, unsigned to) {
    return (uint32_t)((value >> from & ((UINT64_C(1) << count) - 1)) << to);
}

static void put_insn(uint8_t *at, unsigned bytes, uint32_t keep, uint32_t immediate) {
    ntr_little_put(at, (ntr_little(at, bytes) & keep) | immediate, bytes);
}

static void put_upper(uint8_t *at, uint64_t v) {
    put_insn(at, 4, 0xfff, (uint32_t)(v + 0x800) & 0xfffff000);
}

static void put_lower(uint8_t *at, uint64_t v) {
    put_insn(at, 4, 0xfffff, bits(v, 0, 12, 20));
}

/* Number of bytes of a ULEB128 number, or 0 when it does not end in the section. */
static size_t uleb_bytes(const uint8_t *at, const uint8_t *end) {
    for (size_t i = 0; at + i < end && i < 10; i++)
        if (!(at[i] & 0x80)) return i + 1;
    return 0;
}

/* Keeps the number of bytes. */
static void put_uleb(uint8_t *at, size_t bytes, const struct module_kind *kind, uint64_t v) {
    uint64_t old = 0;

    for (size_t i = 0; i < bytes; i++) old |= (uint64_t)(at[i] & 0x7f) << (7 * i);
    if (kind->operation == OP_SUB) v = old - v;
    for (size_t i = 0; i < bytes; i++) at[i] = (uint8_t)((v >> (7 * i) & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
}

static void put_number(uint8_t *at, unsigned bytes, uint64_t mask, const struct module_kind *kind, uint64_t v) {
    const uint64_t old = ntr_little(at, bytes);

    if (kind->operation == OP_ADD) v = old + v;
    if (kind->operation == OP_SUB) v = old - v;
    ntr_little_put(at, (old & ~mask) | (v & mask), bytes);
}

static void apply(uint8_t *at, const struct module_kind *kind, uint64_t v) {
    switch ((enum module_form)kind->form) {
    case FORM_6: put_number(at, 1, 0x3f, kind, v); break;
    case FORM_8:
    case FORM_16:
    case FORM_32:
    case FORM_64: put_number(at, bytes_of[kind->form], UINT64_MAX, kind, v); break;
    case FORM_B:
        put_insn(at, 4, 0x01fff07f, bits(v, 12, 1, 31) | bits(v, 5, 6, 25) | bits(v, 1, 4, 8) | bits(v, 11, 1, 7));
        break;
    case FORM_J:
        put_insn(at, 4, 0xfff, bits(v, 20, 1, 31) | bits(v, 1, 10, 21) | bits(v, 11, 1, 20) | bits(v, 12, 8, 12));
        break;
    case FORM_U: put_upper(at, v); break;
    case FORM_I: put_lower(at, v); break;
    case FORM_S: put_insn(at, 4, 0x01fff07f, bits(v, 5, 7, 25) | bits(v, 0, 5, 7)); break;
    case FORM_CALL:
        put_upper(at, v);
        put_lower(at + 4, v);
        break;
    case FORM_CB:
        put_insn(at, 2, 0xe383,
                 bits(v, 8, 1, 12) | bits(v, 3, 2, 10) | bits(v, 6, 2, 5) | bits(v, 1, 2, 3) | bits(v, 5, 1, 2));
        break;
    case FORM_CJ:
        put_insn(at, 2, 0xe003,
                 bits(v, 11, 1, 12) | bits(v, 4, 1, 11) | bits(v, 8, 2, 9) | bits(v, 10, 1, 8) | bits(v, 6, 1, 7) |
                     bits(v, 7, 1, 6) | bits(v, 1, 3, 3) | bits(v, 5, 1, 2));
        break;
    case FORM_ULEB: break;
    }
}

/* ---- relocations ------------------------------------------------------------------------------- */

/* The relocations of one section. */
struct module_work {
    const ntr_module *module;
    const uint64_t *addresses; /* of the symbols */
    size_t table, count, symbols; /* sections; number of relocations */
    const struct module_section *target;
};

static bool symbol_of(const struct module_work *w, const struct module_relocation *r, struct module_symbol *symbol) {
    if (r->symbol >= module_symbol_count(w->module, w->symbols)) return false;
    *symbol = module_symbol_at(w->module, w->symbols, r->symbol);
    return true;
}

/* Finds the first one of a pair, at an offset of the section. Relocations are sorted by offset. */
static bool find_upper(const struct module_work *w, uint64_t offset, struct module_relocation *upper) {
    size_t low = 0, high = w->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module_relocation_at(w->module, w->table, middle).offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->count; low++) {
        *upper = module_relocation_at(w->module, w->table, low);
        if (upper->offset != offset) return false;
        if (upper->type == R_RISCV_PCREL_HI20) return true;
    }
    return false;
}

/* Stores the value of a relocation. */
static bool value_of(const struct module_work *w, const struct module_relocation *r, const struct module_kind *kind,
                     uint64_t *value) {
    struct module_symbol symbol;
    struct module_relocation upper;

    if (!symbol_of(w, r, &symbol)) return false;
    if (kind->operation == OP_PAIR) {
        if (!find_upper(w, symbol.value, &upper) || !symbol_of(w, &upper, &symbol)) return false;
        r = &upper;
    }
    *value = w->addresses[r->symbol] + (uint64_t)r->addend;
    if (kind->operation == OP_PC || kind->operation == OP_PAIR) *value -= w->target->address + r->offset;
    return true;
}

static void relocate(const struct module_work *w, const struct module_relocation *r) {
    const struct module_kind *kind = kind_of(r->type);
    const uint64_t size = w->target->header.sh_size;
    uint64_t value;

    if (!kind || r->offset > size || bytes_of[kind->form] > size - r->offset || !value_of(w, r, kind, &value)) return;
    uint8_t *at = w->target->data + r->offset;
    if (kind->form == FORM_ULEB)
        put_uleb(at, uleb_bytes(at, w->target->data + size), kind, value);
    else
        apply(at, kind, value);
}

static void relocate_section(const struct module_work *w) {
    for (size_t k = 0; k < w->count; k++) {
        const struct module_relocation r = module_relocation_at(w->module, w->table, k);
        relocate(w, &r);
    }
}

ntr_status module_relocate(ntr_module *m, const ntr_program *program) {
    uint64_t *addresses = NULL;
    size_t known = 0; /* the table of `addresses` */

    for (size_t i = 0; i < m->count; i++) {
        const Elf64_Shdr *header = &m->sections[i].header;
        struct module_work w = {m, addresses, i, module_relocation_count(m, i), header->sh_link, NULL};
        if (!w.count || header->sh_info >= m->count || !m->sections[header->sh_info].data) continue;
        if (!addresses || known != w.symbols) {
            ntr_dealloc(m->allocator, addresses);
            addresses = module_symbol_addresses(m, known = w.symbols, program);
            if (!addresses) return NTR_E_MEMORY;
            w.addresses = addresses;
        }
        w.target = &m->sections[header->sh_info];
        relocate_section(&w);
    }
    ntr_dealloc(m->allocator, addresses);
    return NTR_OK;
}
