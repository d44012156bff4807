/* Around the names of each region of addresses, a symbol file has a section without contents: a debugger accepts a
 * symbol only in a section. The sections are writable, so that no debugger takes their contents, zeros, for the code.
 */
#include "gdb/symbol_file.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "unwind/invented_stack.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_EXTENDS = 4096, /* bytes: the last name of a region, when it has no size */
    NAME_GAP = 1 << 20,  /* names that are farther apart are in different regions */
};

typedef struct builder {
    const ntr_allocator *allocator;
    Elf *elf;
    unsigned xlen;
    ntr_gdb_regions *regions;
    const ntr_name **names; /* with code, by address */
    size_t count;
    char *strings;
    size_t string_size;
    void *table;     /* the symbols */
    uint8_t *frames; /* call frame information */
    ntr_gdb_symbol_kind kind;
} builder;

/* ---- names and regions */

static int by_address(const void *left, const void *right) {
    const ntr_name *a = *(const ntr_name *const *)left, *b = *(const ntr_name *const *)right;
    return NTR_COMPARE(a->address, b->address);
}

static ntr_status take_names(builder *b, const ntr_symbols *symbols) {
    b->names = ntr_alloc(b->allocator, symbols->count + 1, sizeof *b->names);
    if (!b->names) return NTR_E_MEMORY;
    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->names[i].code) b->names[b->count++] = &symbols->names[i];
    if (b->count) qsort(b->names, b->count, sizeof *b->names, by_address);
    return NTR_OK;
}

static ntr_status find_regions(builder *b) {
    const uint64_t top = b->xlen == 32 ? UINT32_MAX : UINT64_MAX;
    ntr_status status = NTR_OK;
    size_t i = 0;
    for (; i < b->count && status == NTR_OK; i++) {
        const ntr_name *name = b->names[i];
        const uint64_t size = name->size ? name->size : NAME_EXTENDS;
        status = ntr_gdb_region_add(b->regions, name->address, top - name->address < size ? top : name->address + size,
                                    NAME_GAP);
        if (status == NTR_OK && !ntr_gdb_regions_contain(b->regions, name->address)) break; /* too many */
        if (status == NTR_OK) b->regions->items[b->regions->count - 1].end = i + 1;
    }
    b->count = i;
    return status;
}

/* ---- strings */

enum { STRINGS_SECTION, TEXT_SECTION, SYMBOLS_SECTION, FRAMES_SECTION, SECTION_NAMES };
static const char section_names[] = "\0.strtab\0.text\0.symtab\0.debug_frame";
static const GElf_Word section_name[SECTION_NAMES] = {1, 9, 15, 23};

static ntr_status make_strings(builder *b) {
    size_t size = sizeof section_names;
    for (size_t i = 0; i < b->count; i++) size += strlen(b->names[i]->name) + 1;
    b->strings = ntr_alloc(b->allocator, size, 1);
    if (!b->strings) return NTR_E_MEMORY;
    memcpy(b->strings, section_names, sizeof section_names);
    b->string_size = sizeof section_names;
    return NTR_OK;
}

static size_t add_string(builder *b, const char *text) {
    const size_t at = b->string_size, size = strlen(text) + 1;
    memcpy(b->strings + at, text, size);
    b->string_size += size;
    return at;
}

/* ---- sections */

/* Returns the content of a new section, or NULL. */
static Elf_Data *add_section(builder *b, GElf_Shdr *header, Elf_Type type, void *bytes, size_t size) {
    GElf_Shdr stored;
    Elf_Scn *section = elf_newscn(b->elf);
    Elf_Data *data = section ? elf_newdata(section) : NULL;
    if (!data || !gelf_getshdr(section, &stored)) return NULL;
    data->d_buf = bytes;
    data->d_size = size;
    data->d_type = type;
    data->d_align = header->sh_addralign;
    data->d_version = EV_CURRENT;
    header->sh_size = size;
    return gelf_update_shdr(section, header) ? data : NULL;
}

static bool add_regions(builder *b) {
    for (size_t i = 0; i < b->regions->count; i++) {
        const ntr_gdb_region *r = &b->regions->items[i];
        GElf_Shdr text = {
            .sh_name = section_name[TEXT_SECTION],
            .sh_type = SHT_NOBITS,
            .sh_flags = SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE,
            .sh_addr = r->low,
            .sh_addralign = 1,
        };
        if (!add_section(b, &text, ELF_T_BYTE, NULL, r->high - r->low)) return false;
    }
    return true;
}

static GElf_Sym symbol_of(builder *b, const ntr_name *name, size_t section) {
    static const unsigned char bindings[] = {
        [NTR_BINDING_LOCAL] = STB_LOCAL, [NTR_BINDING_WEAK] = STB_WEAK, [NTR_BINDING_GLOBAL] = STB_GLOBAL};
    return (GElf_Sym){
        .st_name = (GElf_Word)add_string(b, name->name),
        .st_value = name->address,
        .st_size = name->size,
        .st_info = (unsigned char)GELF_ST_INFO(bindings[name->binding], name->function ? STT_FUNC : STT_OBJECT),
        .st_shndx = (GElf_Section)section,
    };
}

/* The format wants local symbols before all others. Returns how many there are, with the empty one. */
static size_t put_symbols(builder *b, Elf_Data *data) {
    size_t number = 1, locals = 1;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0, at = 0; i < b->count; i++) {
            const bool local = b->names[i]->binding == NTR_BINDING_LOCAL;
            while (i >= b->regions->items[at].end) at++;
            if (local != (pass == 0)) continue;
            GElf_Sym symbol = symbol_of(b, b->names[i], at + 1);
            gelf_update_sym(data, (int)number++, &symbol);
        }
        if (pass == 0) locals = number;
    }
    return locals;
}

static bool add_symbols(builder *b) {
    const size_t entry = gelf_fsize(b->elf, ELF_T_SYM, 1, EV_CURRENT);
    GElf_Shdr header = {
        .sh_name = section_name[SYMBOLS_SECTION],
        .sh_type = SHT_SYMTAB,
        .sh_link = (GElf_Word)b->regions->count + 2, /* the strings: the section behind this one */
        .sh_addralign = b->xlen / 8,
        .sh_entsize = entry,
    };
    GElf_Shdr strings = {.sh_name = section_name[STRINGS_SECTION], .sh_type = SHT_STRTAB, .sh_addralign = 1};
    b->table = ntr_alloc(b->allocator, b->count + 1, entry);
    Elf_Data *data = b->table ? add_section(b, &header, ELF_T_SYM, b->table, (b->count + 1) * entry) : NULL;
    if (!data) return false;
    header.sh_info = (GElf_Word)put_symbols(b, data);
    return gelf_update_shdr(elf_getscn(b->elf, b->regions->count + 1), &header) &&
           add_section(b, &strings, ELF_T_BYTE, b->strings, b->string_size);
}

static bool add_frames(builder *b) {
    GElf_Shdr header = {.sh_name = section_name[FRAMES_SECTION], .sh_type = SHT_PROGBITS, .sh_addralign = 4};
    b->frames = ntr_alloc(b->allocator, ntr_gdb_symbol_frames_most(b->regions), 1);
    if (!b->frames) return false;
    const size_t size = ntr_gdb_symbol_frames_write(b->regions, b->kind, b->xlen, b->frames);
    return add_section(b, &header, ELF_T_BYTE, b->frames, size);
}

/* ---- the file */

static bool add_headers(builder *b) {
    enum {
        NO_ENTRY = 1
    }; /* GDB takes code without a name for the entry function if this is 0, and ends backtraces there */
    GElf_Ehdr head;
    const GElf_Phdr segment = {
                                /* a debugger takes the place of a library from its first segment */
        .p_type = PT_LOAD,
        .p_flags = PF_R | PF_X,
        .p_vaddr = b->regions->items[0].low,
        .p_paddr = b->regions->items[0].low,
        .p_memsz = b->regions->items[0].high - b->regions->items[0].low,
        .p_align = 1,
    };
    if (!gelf_newehdr(b->elf, b->xlen == 32 ? ELFCLASS32 : ELFCLASS64) || !gelf_newphdr(b->elf, 1) ||
        !gelf_getehdr(b->elf, &head))
        return false;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_type = ET_EXEC;
    head.e_entry = NO_ENTRY;
    head.e_machine = EM_RISCV;
    head.e_version = EV_CURRENT;
    head.e_shstrndx = (GElf_Section)(b->regions->count + 2);
    return gelf_update_ehdr(b->elf, &head) && gelf_update_phdr(b->elf, 0, (GElf_Phdr *)(uintptr_t)&segment);
}

static ntr_status write_file(builder *b, int fd) {
    elf_version(EV_CURRENT);
    b->elf = elf_begin(fd, ELF_C_WRITE, NULL);
    const bool written = b->elf && add_headers(b) && add_regions(b) && add_symbols(b) && add_frames(b) &&
                         elf_update(b->elf, ELF_C_WRITE) >= 0;
    elf_end(b->elf);
    return written ? NTR_OK : NTR_E_IO;
}

ntr_status ntr_gdb_symbol_file_write(int fd, ntr_gdb_symbol_kind kind, const ntr_symbols *symbols,
                                     ntr_gdb_regions *regions, unsigned xlen) {
    builder b = {.allocator = regions->allocator, .xlen = xlen, .regions = regions, .kind = kind};
    ntr_status status = symbols ? take_names(&b, symbols) : NTR_OK;
    if (status == NTR_OK && symbols) status = find_regions(&b);
    if (status == NTR_OK && !regions->count) status = NTR_E_NO_IMAGE;
    if (status == NTR_OK) status = make_strings(&b);
    if (status == NTR_OK) status = write_file(&b, fd);
    ntr_dealloc(b.allocator, b.names);
    ntr_dealloc(b.allocator, b.strings);
    ntr_dealloc(b.allocator, b.table);
    ntr_dealloc(b.allocator, b.frames);
    return status;
}

ntr_status ntr_gdb_return_places_write(int fd, uint64_t address, ntr_gdb_regions *regions, unsigned xlen) {
    ntr_name names[NTR_RETURN_PLACES];
    char texts[NTR_RETURN_PLACES][sizeof "return_place_9"];
    const ntr_symbols symbols = {.names = names, .count = NTR_RETURN_PLACES};
    for (unsigned i = 0; i < NTR_RETURN_PLACES; i++) {
        snprintf(texts[i], sizeof texts[i], "return_place_%u", i + 1);
        names[i] = (ntr_name){.name = texts[i],
                              .address = address + (uint64_t)i * NTR_RETURN_PLACE_SIZE,
                              .size = NTR_RETURN_PLACE_SIZE,
                              .function = true,
                              .code = true};
    }
    return ntr_gdb_symbol_file_write(fd, NTR_GDB_SYMBOL_RETURN_PLACES, &symbols, regions, xlen);
}
