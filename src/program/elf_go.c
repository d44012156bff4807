/* Functions of a Go program from .gopclntab, the table that the runtime uses for stack traces (debug/gosym of Go; versions
 * since Go 1.18). It remains in stripped files.
 *
 * Header: magic, two zeros, two sizes (4 + 2 + 1 + 1 bytes), then words: number of functions, number of files, address of
 * the code, offsets of the names, units, files, tables and functions. The table of functions has pairs (offset in the code,
 * offset of a record) of 32 bits, in ascending order, and the end of the code. The second number of a record is the offset
 * of the name. */
#include "program/elf_file.h"

#include <string.h>

#define MAGIC_1_18 UINT64_C(0xfffffff0)
#define MAGIC_1_20 UINT64_C(0xfffffff1)

enum { HEADER_WORDS = 8, HEADER_START = 8, PAIR_SIZE = 8, FUNCTIONS_MAX = 1 << 22, GO_NAME_MAX = 65535 };

/* The words of the header that are used. */
enum { WORD_FUNCTIONS = 0, WORD_CODE = 2, WORD_NAMES = 3, WORD_TABLE = 7 };

static uint64_t number_at(ntr_bytes table, uint64_t at, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)table.data[at + i] << (8 * i);
    return value;
}

static bool is_inside(ntr_bytes table, uint64_t at, uint64_t size) {
    return at <= table.size && size <= table.size - at;
}

/* Returns the name at `at`, or NULL. */
static const char *name_at(ntr_bytes table, uint64_t at) {
    if (at >= table.size) return NULL;
    const size_t room = table.size - (size_t)at;
    const char *name = (const char *)table.data + at;
    return *name && memchr(name, 0, room < GO_NAME_MAX ? room : GO_NAME_MAX) ? name : NULL;
}

static ntr_status add_function(ntr_elf *file, uint64_t code, uint64_t start, uint64_t end, const char *name) {
    const ntr_name function = {
        .name = name,
        .address = ntr_program_cut(file->program, code + start + file->image->options.bias),
        .size = end - start,
        .binding = NTR_BINDING_LOCAL,
        .function = true,
        .code = true,
    };
    if (ntr_symbols_add(&file->image->symbols, file->program->allocator, &function))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

ntr_status ntr_elf_read_go(ntr_elf *file, const GElf_Shdr *section) {
    const ntr_bytes table = ntr_elf_section_bytes(file, section);
    const unsigned word = file->xlen / 8;
    uint64_t header[HEADER_WORDS];
    if (file->has_symtab || !is_inside(table, 0, HEADER_START + HEADER_WORDS * word)) return NTR_OK;
    const uint64_t magic = number_at(table, 0, 4);
    if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || table.data[7] != word) return NTR_OK;
    for (unsigned i = 0; i < HEADER_WORDS; i++) header[i] = number_at(table, HEADER_START + i * word, word);
    const uint64_t count = header[WORD_FUNCTIONS], pairs = header[WORD_TABLE];
    if (count > FUNCTIONS_MAX || !is_inside(table, pairs, count * PAIR_SIZE + 4)) return NTR_OK;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = pairs + i * PAIR_SIZE, start = number_at(table, at, 4), end = number_at(table, at + 8, 4);
        const uint64_t record = pairs + number_at(table, at + 4, 4);
        if (end <= start || !is_inside(table, record, 8)) continue;
        const char *name = name_at(table, header[WORD_NAMES] + number_at(table, record + 4, 4));
        ntr_status status = name ? add_function(file, header[WORD_CODE], start, end, name) : NTR_OK;
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}
