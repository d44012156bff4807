/* Kernel modules: where their sections are, and linking them for that. */
#include "program/module_file.h"

#include <stdio.h>
#include <string.h>

/* ---- objects ----------------------------------------------------------------------------------- */

bool ntr_module_is(ntr_bytes beginning) {
    Elf32_Ehdr header; /* both classes begin equally */

    if (beginning.size < sizeof header) return false;
    memcpy(&header, beginning.data, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
           header.e_type == ET_REL && header.e_machine == MODULE_MACHINE;
}

ntr_status ntr_module_new(const char *path, const ntr_allocator *allocator, ntr_module **out) {
    *out = ntr_alloc(allocator, 1, sizeof **out);
    if (!*out) return NTR_E_MEMORY;
    (*out)->path = path;
    (*out)->allocator = allocator;
    return NTR_OK;
}

void ntr_module_free(ntr_module *m) {
    if (!m) return;
    ntr_dealloc(m->allocator, m->sections);
    ntr_dealloc(m->allocator, m->segments);
    ntr_dealloc(m->allocator, m);
}

const char *ntr_module_error(const ntr_module *m) {
    return m->error;
}

/* ---- places ------------------------------------------------------------------------------------ */

/* Addresses at which no code is: RV64 has none between the two halves of its addresses. */
static uint64_t nowhere(const ntr_module *m) {
    return m->wide ? UINT64_C(1) << 62 : 0x1000;
}

static uint64_t align_up(uint64_t at, const struct module_section *s) {
    const uint64_t align =
        s->header.sh_addralign && !(s->header.sh_addralign & (s->header.sh_addralign - 1)) ? s->header.sh_addralign : 1;
    return (at + align - 1) & ~(align - 1);
}

/* Places sections one after the other, as the file has them: those without an address (`all` false), or all. */
static void place_in_order(ntr_module *m, uint64_t at, bool all) {
    for (size_t i = 0; i < m->count; i++) {
        struct module_section *s = &m->sections[i];
        if (!module_is_loaded(s) || (s->placed && !all)) continue;
        s->address = at = align_up(at, s);
        s->placed = all;
        at += s->header.sh_size;
    }
}

/* The address of a section by one of its symbols. */
static bool vote_of(const struct module_symbol *symbol, const char *module, const ntr_program *program,
                    uint64_t *address) {
    char name[1200];
    ntr_symbol found;

    if ((symbol->type != STT_FUNC && symbol->type != STT_OBJECT) || !*symbol->name) return false;
    int size = snprintf(name, sizeof name, "%s [%s]", symbol->name, module);
    if (size < 0 || (size_t)size >= sizeof name || ntr_program_find(program, name, &found) != NTR_OK) return false;
    *address = found.address - symbol->value;
    return true;
}

/* Votes of one section: the address that has a majority, if one has. */
struct votes {
    uint64_t address;
    size_t lead, votes, count;
};

/* Visits all votes: `counting` false finds the only address that may have a majority, true counts its votes. */
static void visit_votes(const ntr_module *m, const char *module, const ntr_program *program, struct votes *votes,
                        bool counting) {
    for (size_t table = 0; table < m->count; table++)
        for (size_t i = 0; i < module_symbol_count(m, table); i++) {
            const struct module_symbol symbol = module_symbol_at(m, table, i);
            uint64_t address;
            if (symbol.section >= m->count || !module_is_loaded(&m->sections[symbol.section])) continue;
            if (!vote_of(&symbol, module, program, &address)) continue;
            struct votes *v = &votes[symbol.section];
            if (counting) {
                v->count++;
                v->votes += v->address == address;
            } else if (v->lead == 0) {
                *v = (struct votes){.address = address, .lead = 1};
            } else {
                v->lead += v->address == address ? 1 : (size_t)-1;
            }
        }
}

static ntr_status take_votes(ntr_module *m, const char *module, const struct votes *votes) {
    size_t placed = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (!votes[i].count) continue;
        if (2 * votes[i].votes <= votes[i].count)
            return ntr_module_fail(
                m, NTR_E_INVALID,
                "section %s: its symbols are not where the module %s has them; is this the file of the module?",
                module_section_name(m, i), module);
        m->sections[i].address = votes[i].address;
        m->sections[i].placed = true;
        placed++;
    }
    if (placed) return NTR_OK;
    return ntr_module_fail(
        m, NTR_E_NAME,
        "not linked, and no symbol of a module %s is known: give --symbols kernel=FILE with a copy of "
        "/proc/kallsyms, or the address at which all its sections are: %s@ADDR",
        module, m->path);
}

static ntr_status place_by_names(ntr_module *m, const char *module, const ntr_program *program) {
    struct votes *votes = ntr_alloc(m->allocator, m->count, sizeof *votes);

    if (!votes) return NTR_E_MEMORY;
    visit_votes(m, module, program, votes, false);
    visit_votes(m, module, program, votes, true);
    const ntr_status status = take_votes(m, module, votes);
    ntr_dealloc(m->allocator, votes);
    place_in_order(m, nowhere(m), false);
    return status;
}

/* Linux puts all sections with code one after the other, in the order of the file, without those of the start (.init),
 * which are elsewhere and gone. The tables of calls (.plt) grow then: what is behind them is not placed. */
static ntr_status place_as_linux(ntr_module *m, const char *module, const ntr_module_place *place) {
    uint64_t at = place->address;

    for (size_t i = 0; i < m->count; i++) {
        struct module_section *s = &m->sections[i];
        const char *name = module_section_name(m, i);
        if (strcmp(name, ".plt") == 0) break;
        if (!module_is_loaded(s) || !(s->header.sh_flags & SHF_EXECINSTR) || strncmp(name, ".init", 5) == 0) continue;
        s->address = align_up(at, s);
        if (s->address - place->address > place->length ||
            s->header.sh_size > place->length - (s->address - place->address))
            return ntr_module_fail(m, NTR_E_INVALID,
                                   "its code is larger than the module %s that was loaded; is this its file?", module);
        s->placed = true;
        at = s->address + s->header.sh_size;
    }
    place_in_order(m, nowhere(m), false);
    return NTR_OK;
}

static ntr_status place(ntr_module *m, const char *module, const ntr_module_place *place, const ntr_program *program) {
    switch (place->where) {
    case NTR_MODULE_ORDER: place_in_order(m, place->address, true); return NTR_OK;
    case NTR_MODULE_KERNEL: return place_as_linux(m, module, place);
    case NTR_MODULE_NAMES: break;
    }
    return place_by_names(m, module, program);
}

/* ---- linking ----------------------------------------------------------------------------------- */

ntr_status ntr_module_link(ntr_module *m, uint8_t *bytes, size_t size, const char *name, ntr_module_place at,
                           const ntr_program *program) {
    m->bytes = bytes;
    m->size = size;
    ntr_status status = module_file_check(m);
    if (status == NTR_OK) status = place(m, name, &at, program);
    if (status == NTR_OK) status = module_relocate(m, program);
    if (status == NTR_OK) status = module_write(m);
    if (status == NTR_E_MEMORY) snprintf(m->error, sizeof m->error, "out of memory");
    return status;
}

const char *ntr_module_unplaced(const ntr_module *m, size_t index) {
    for (size_t i = 0; i < m->count; i++)
        if (module_is_loaded(&m->sections[i]) && !m->sections[i].placed &&
            (m->sections[i].header.sh_flags & SHF_EXECINSTR) && index-- == 0)
            return module_section_name(m, i);
    return NULL;
}

void ntr_module_parts(const ntr_module *m, ntr_bytes parts[2]) {
    parts[0] = (ntr_bytes){m->bytes, m->size};
    parts[1] = (ntr_bytes){m->segments, m->segments_size};
}
