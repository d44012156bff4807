/* Files that only give names: ELF files, text of kallsyms, kernel images. */
#include "base/allocator.h"
#include "program/file.h"
#include "program/kallsyms.h"
#include "program/program.h"

#include <ntrace/program_files.h>
#include <string.h>

#define FUNCTION_MAX (UINT64_C(1) << 20) /* bytes; what follows a longer gap between two symbols belongs to neither */

/* State of reading symbols into the last image of a program. */
struct symbol_file {
    ntr_program *program;
    ntr_image *image;
    bool any_address; /* a symbol has an address other than 0 */
};

static bool is_code(char type) {
    return strchr("tTwW", type) != NULL;
}

/* Symbols of data are added too: code ends where they begin. */
static int take(void *user, uint64_t address, char type, const char *text) {
    struct symbol_file *r = user;
    const bool upper = type >= 'A' && type <= 'Z';
    ntr_name name = {
        .name = text,
        .address = ntr_program_cut(r->program, address + r->image->options.bias),
        .limit = UINT64_MAX,
        .binding = type == 'W' || type == 'w' ? NTR_BINDING_WEAK
                   : upper                    ? NTR_BINDING_GLOBAL
                                              : NTR_BINDING_LOCAL,
        .function = is_code(type),
        .code = type != 'A' && type != 'a' && type != 'U',
    };
    r->any_address = r->any_address || address;
    if (text[0] == '$' || strncmp(text, ".L", 2) == 0) return 0; /* mapping symbols and local labels */
    return ntr_symbols_add_copy(&r->image->symbols, r->program->allocator, &name, "");
}

/* Gives each function the size up to the next symbol. The names are sorted by address. */
static void set_sizes(ntr_symbols *symbols) {
    uint64_t here = 0, next = 0; /* address of the symbols after this one; the first address above it */
    for (size_t i = symbols->count; i-- > 0;) {
        ntr_name *name = &symbols->names[i];
        if (!name->code) continue;
        if (name->address != here) next = here;
        here = name->address;
        if (!name->function || next <= here) continue;
        name->size = next - here < FUNCTION_MAX ? next - here : FUNCTION_MAX;
    }
}

static ntr_status sort(struct symbol_file *r) {
    ntr_symbols *symbols = &r->image->symbols;
    if (ntr_symbols_sort(symbols, r->program->allocator)) return NTR_E_MEMORY;
    set_sizes(symbols);
    return ntr_symbols_sort(symbols, r->program->allocator) ? NTR_E_MEMORY : NTR_OK;
}

static ntr_status fail(struct symbol_file *r, ntr_status status, const char *text) {
    return ntr_program_fail(r->program, status, r->image->path, "%s", text);
}

static ntr_status finish(struct symbol_file *r, ntr_status status) {
    if (status == NTR_OK && !r->image->symbols.count) return fail(r, NTR_E_FORMAT, "no symbols");
    if (status == NTR_OK && !r->any_address)
        return fail(r, NTR_E_FORMAT, "all addresses are 0: read /proc/kallsyms as root, with kernel.kptr_restrict=0");
    if (status == NTR_OK) status = sort(r);
    return status == NTR_E_MEMORY ? fail(r, status, "out of memory") : status;
}

static ntr_status read_text(struct symbol_file *r, ntr_bytes file) {
    size_t line;
    ntr_status status = ntr_kallsyms_text(file, take, r, &line);
    if (status == NTR_E_FORMAT)
        return ntr_program_fail(r->program, status, r->image->path, "line %zu is not \"ADDRESS TYPE NAME\"", line);
    return finish(r, status);
}

/* The tables of a 64-bit kernel do not fit with 4-byte addresses, and the other way round. */
static ntr_status read_tables(struct symbol_file *r, ntr_bytes file) {
    ntr_status status = NTR_END;
    if (r->program->xlen != 32) status = ntr_kallsyms_tables(file, 8, take, r);
    if (status == NTR_END && r->program->xlen != 64) status = ntr_kallsyms_tables(file, 4, take, r);
    return status == NTR_END ? NTR_END : finish(r, status);
}

static bool starts_with(ntr_bytes file, size_t at, const char *magic, size_t size) {
    return file.size >= at + size && memcmp(file.data + at, magic, size) == 0;
}

static bool is_text(ntr_bytes file) {
    size_t at = 0;
    while (at < file.size && at < 16 && strchr("0123456789abcdefABCDEF", file.data[at]) && file.data[at]) at++;
    return at > 0 && at < file.size && file.data[at] == ' ';
}

static bool is_compressed(ntr_bytes file) {
    return starts_with(file, 0, "\x1f\x8b", 2) ||
           starts_with(file, 0,
                       "\xfd"
                       "7zXZ",
                       5) ||
           starts_with(file, 0, "\x28\xb5\x2f\xfd", 4) || starts_with(file, 4, "zimg", 4);
}

/* A kernel without .symtab has tables for itself. */
static ntr_status read_elf(struct symbol_file *r, ntr_bytes file) {
    ntr_status status = ntr_program_add_debug_symbols(r->program, r->program->image_count - 1, file);
    if (status != NTR_OK || r->image->symbols.count) return status;
    status = read_tables(r, file);
    return status == NTR_END ? fail(r, NTR_E_FORMAT, "no symbols") : status;
}

static ntr_status read_file(struct symbol_file *r, ntr_bytes file) {
    if (starts_with(file, 0, "\177ELF", 4)) return read_elf(r, file);
    if (is_text(file)) return read_text(r, file);
    if (is_compressed(file)) return fail(r, NTR_E_FORMAT, "compressed; decompress it first");
    ntr_status status = read_tables(r, file);
    if (status != NTR_END) return status;
    return fail(r, NTR_E_FORMAT, "neither ELF nor text of kallsyms, and no symbol tables of a Linux kernel are inside");
}

ntr_status ntr_program_add_symbols(ntr_program *program, const char *path, const ntr_image_options *options) {
    void *mapping;
    size_t size;
    ntr_status status = ntr_program_map_file(program, path, &mapping, &size);
    if (status != NTR_OK) return status;
    status = ntr_program_add_image(program, path, options);
    if (status == NTR_OK) {
        struct symbol_file r = {.program = program, .image = &program->images[program->image_count - 1]};
        status = read_file(&r, (ntr_bytes){mapping, size});
        if (status == NTR_OK) status = ntr_program_complete_image(program);
        if (status != NTR_OK) ntr_program_drop_image(program);
    }
    ntr_file_unmap(mapping, size);
    return status;
}
