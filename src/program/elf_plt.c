/* Entries of the procedure linkage table (RISC-V ABIs Specification, section "Procedure Linkage Table").
 *
 * An entry is 16 bytes: auipc t3; l[wd] t3, ...(t3); jalr t1, t3; nop. The load reads the slot of the function in the
 * global offset table. A relocation of that slot names the function. */
#include "base/allocator.h"
#include "base/macros.h"
#include "base/bytes.h"
#include "program/elf_file.h"

#include <stdlib.h>

#ifndef R_RISCV_JUMP_SLOT
#define R_RISCV_JUMP_SLOT 5
#endif
#ifndef R_RISCV_IRELATIVE
#define R_RISCV_IRELATIVE 58
#endif

/* Limits for damaged files. For each IRELATIVE relocation all symbols are searched. */
enum { RELOCATIONS_MAX = 1 << 22, IRELATIVE_MAX = 256 };

enum { ENTRY_SIZE = 16, T3 = 28, PLT_AUIPC = 0x17, PLT_LOAD = 0x03 };

/* A slot of the global offset table. */
typedef struct got_slot {
    uint64_t address;
    const char *name;
} got_slot;

typedef struct slot_table {
    got_slot *items;
    size_t count, capacity;
    size_t read, irelative; /* numbers of relocations that were read */
} slot_table;

static int by_address(const void *left, const void *right) {
    const got_slot *a = left, *b = right;
    return NTR_COMPARE(a->address, b->address);
}

/* Returns the name that a relocation of a slot refers to, or NULL. The target of IRELATIVE is the function that selects
 * an implementation; it has the name of the selected function. */
static const char *name_of(const ntr_elf *file, const GElf_Rela *rela, Elf_Data *symbols, size_t strings) {
    GElf_Sym symbol = {0};
    if (GELF_R_TYPE(rela->r_info) == R_RISCV_IRELATIVE) {
        const ntr_symbols *all = &file->image->symbols;
        const uint64_t target = (uint64_t)rela->r_addend + file->image->options.bias;
        for (size_t i = 0; i < all->count; i++)
            if (all->names[i].address == target && all->names[i].function) return all->names[i].name;
        return NULL;
    }
    if (GELF_R_TYPE(rela->r_info) != R_RISCV_JUMP_SLOT) return NULL;
    if (!symbols) return NULL;
    if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &symbol)) {
        ELF_DAMAGE(file, "symbol of a relocation");
        return NULL;
    }
    const char *name = ntr_elf_string(file, strings, symbol.st_name);
    return name && *name ? name : NULL;
}

static ntr_status add_slots(const ntr_elf *file, Elf_Scn *scn, const GElf_Shdr *section, slot_table *slots) {
    Elf_Scn *table = elf_getscn(file->elf, section->sh_link);
    GElf_Shdr symbols = {0};
    Elf_Data *relocations = elf_getdata(scn, NULL), *names = NULL;
    if (!relocations) {
        ELF_DAMAGE(file, "relocations of the procedure linkage table");
        return NTR_OK;
    }
    if (section->sh_link && (!table || !gelf_getshdr(table, &symbols) || !(names = elf_getdata(table, NULL))))
        ELF_DAMAGE(file, "symbols of the procedure linkage table");
    const size_t count = relocations->d_size / gelf_fsize(file->elf, ELF_T_RELA, 1, EV_CURRENT);
    for (size_t i = 0; i < count && slots->read++ < RELOCATIONS_MAX; i++) {
        GElf_Rela rela = {0};
        if (!gelf_getrela(relocations, (int)i, &rela)) {
            ELF_DAMAGE(file, "relocations of the procedure linkage table");
            return NTR_OK;
        }
        if (GELF_R_TYPE(rela.r_info) == R_RISCV_IRELATIVE && slots->irelative++ >= IRELATIVE_MAX) continue;
        const char *name = name_of(file, &rela, names, symbols.sh_link);
        if (!name) continue;
        if (ntr_reserve(file->program->allocator, (void **)&slots->items, &slots->capacity, slots->count + 1,
                        sizeof *slots->items))
            return NTR_E_MEMORY;
        slots->items[slots->count++] = (got_slot){rela.r_offset, name};
    }
    return NTR_OK;
}

static ntr_status collect_slots(const ntr_elf *file, slot_table *slots) {
    Elf_Scn *scn = NULL;
    GElf_Shdr section = {0};
    ntr_status status = NTR_OK;
    while (status == NTR_OK && (scn = elf_nextscn(file->elf, scn))) {
        if (!gelf_getshdr(scn, &section))
            ELF_DAMAGE(file, "header of a section");
        else if (section.sh_type == SHT_RELA)
            status = add_slots(file, scn, &section, slots);
    }
    if (slots->count) qsort(slots->items, slots->count, sizeof *slots->items, by_address);
    return status;
}

/* Returns the name of the slot that the two instructions at `address` load to t3, or NULL. */
static const char *loaded(const ntr_elf *file, const slot_table *slots, const uint8_t *code, uint64_t address) {
    const uint32_t auipc = ntr_little_32(code), load = ntr_little_32(code + 4);
    const unsigned loaded_to = load >> 7 & 31, base = load >> 15 & 31;
    if ((auipc & 0x7f) != PLT_AUIPC || (auipc >> 7 & 31) != T3) return NULL;
    if ((load & 0x7f) != PLT_LOAD || loaded_to != T3 || base != T3) return NULL;
    const int64_t offset = (int64_t)(int32_t)(auipc & 0xfffff000) + ((int32_t)load >> 20);
    got_slot key = {.address = address + (uint64_t)offset};
    if (file->xlen == 32) key.address = (uint32_t)key.address;
    const got_slot *found = slots->count ? bsearch(&key, slots->items, slots->count, sizeof key, by_address) : NULL;
    return found ? found->name : NULL;
}

static ntr_status add_entries(ntr_elf *file, const GElf_Shdr *section, const slot_table *slots) {
    const ntr_bytes code = ntr_elf_section_bytes(file, section);
    for (size_t at = 0; code.size - at >= 8; at += 4) {
        const char *name = loaded(file, slots, code.data + at, section->sh_addr + at);
        if (!name) continue;
        const size_t rest = code.size - at;
        const ntr_name entry = {
            .name = name,
            .address = ntr_program_cut(file->program, section->sh_addr + at + file->image->options.bias),
            .size = rest < ENTRY_SIZE ? rest : ENTRY_SIZE,
            .binding = NTR_BINDING_LOCAL,
            .function = true,
            .code = true,
        };
        if (ntr_symbols_add_copy(&file->image->symbols, file->program->allocator, &entry, "@plt")) return NTR_E_MEMORY;
    }
    return NTR_OK;
}

ntr_status ntr_elf_read_plt(ntr_elf *file, const GElf_Shdr *section) {
    slot_table slots = {0};
    ntr_status status = collect_slots(file, &slots);
    if (status == NTR_OK) status = add_entries(file, section, &slots);
    ntr_dealloc(file->program->allocator, slots.items);
    return status == NTR_OK ? NTR_OK : ELF_FAIL(file, status, "out of memory");
}
