/* jitdump of Linux: code generated at run time, with bytes, names and times. A header, then records with a prefix
 * {u32 id, u32 size including the prefix, u64 time}. */
#include "base/bytes.h"
#include "base/allocator.h"
#include "program/program.h"

#include <ntrace/program_files.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SIZE = 40,
    PREFIX_SIZE = 16,
    LOAD_SIZE = 56, /* followed by the name and the code */
    MOVE_SIZE = 64,
    ID_LOAD = 0,
    ID_MOVE = 1,
    MACHINE_RISCV = 243,
};
#define MAGIC         0x4a695444u
#define MAGIC_SWAPPED 0x4454694au

/* Loaded code. A later MOVE record refers to it by its index. */
typedef struct jit_code {
    uint64_t index;
    size_t at; /* offset of its record in the file */
} jit_code;

typedef struct jit_file {
    ntr_program *program;
    ntr_image *image;
    const char *path;
    const uint8_t *bytes;
    size_t size;
    ntr_position_of_time when;
    void *user;
    bool only_names; /* add no code */
    jit_code *codes; /* sorted by index */
    size_t code_count, code_capacity;
} jit_file;

#define FAIL(file, status, ...) ntr_program_fail((file)->program, status, (file)->path, __VA_ARGS__)

static uint32_t u32(const jit_file *file, size_t at) {
    return ntr_little_32(file->bytes + at);
}

static uint64_t u64(const jit_file *file, size_t at) {
    return ntr_little_64(file->bytes + at);
}

static ntr_status check_header(const jit_file *file, size_t *first) {
    uint32_t magic = file->size >= HEADER_SIZE ? u32(file, 0) : 0;
    if (magic == MAGIC_SWAPPED) return FAIL(file, NTR_E_FORMAT, "not a little-endian jitdump");
    if (magic != MAGIC) return FAIL(file, NTR_E_FORMAT, "not a jitdump file");
    if (u32(file, 4) != 1) return FAIL(file, NTR_E_FORMAT, "jitdump of version %u", u32(file, 4));
    if (u32(file, 12) != MACHINE_RISCV)
        return FAIL(file, NTR_E_FORMAT, "not a RISC-V jitdump (machine %u)", u32(file, 12));
    *first = u32(file, 8);
    if (*first < HEADER_SIZE) return FAIL(file, NTR_E_FORMAT, "jitdump header of %zu bytes", *first);
    return NTR_OK;
}

/* Stores the size of the record at `at`, or 0 after the last complete one. */
static ntr_status record_size(const jit_file *file, size_t at, size_t *size) {
    *size = 0;
    if (at > file->size || file->size - at < PREFIX_SIZE) return NTR_OK;
    size_t stored = u32(file, at + 4);
    if (stored < PREFIX_SIZE)
        return FAIL(file, NTR_E_FORMAT, "record at 0x%zx: %zu bytes are less than its prefix", at, stored);
    if (stored <= file->size - at) *size = stored;
    return NTR_OK;
}

/* Checks that the parts of a LOAD record are inside the record. */
static ntr_status check_load(const jit_file *file, size_t at, size_t size) {
    if (size < LOAD_SIZE)
        return FAIL(file, NTR_E_FORMAT, "record at 0x%zx: a LOAD record of %zu bytes is too short", at, size);
    uint64_t code = u64(file, at + 40);
    if (code > size - LOAD_SIZE || !memchr(file->bytes + at + LOAD_SIZE, 0, size - LOAD_SIZE - (size_t)code))
        return FAIL(file, NTR_E_FORMAT, "record at 0x%zx: 0x%llx bytes of code and a name exceed its %zu bytes", at,
                    (unsigned long long)code, size);
    return NTR_OK;
}

static int by_index(const void *left, const void *right) {
    const jit_code *a = left, *b = right;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* First pass: collects the index of all loaded code. */
static ntr_status collect_codes(jit_file *file, size_t first) {
    size_t size;
    for (size_t at = first;; at += size) {
        ntr_status status = record_size(file, at, &size);
        if (status != NTR_OK) return status;
        if (size == 0) break;
        if (u32(file, at) != ID_LOAD) continue;
        status = check_load(file, at, size);
        if (status != NTR_OK) return status;
        if (ntr_reserve(file->program->allocator, (void **)&file->codes, &file->code_capacity, file->code_count + 1,
                        sizeof *file->codes))
            return FAIL(file, NTR_E_MEMORY, "out of memory");
        file->codes[file->code_count++] = (jit_code){u64(file, at + 48), at};
    }
    if (file->code_count) qsort(file->codes, file->code_count, sizeof *file->codes, by_index);
    return NTR_OK;
}

/* Returns the last record before `before` that loaded code with this index. */
static const jit_code *code_of(const jit_file *file, uint64_t index, size_t before) {
    size_t low = 0, high = file->code_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const jit_code *code = &file->codes[middle];
        if (code->index < index || (code->index == index && code->at < before))
            low = middle + 1;
        else
            high = middle;
    }
    return low && file->codes[low - 1].index == index ? &file->codes[low - 1] : NULL;
}

/* Adds the code of the LOAD record at `load` at `address`, valid from `time`. */
static ntr_status add_code(jit_file *file, size_t load, uint64_t address, uint64_t time) {
    const ntr_image_options *options = &file->image->options;
    size_t size = u32(file, load + 4), code = (size_t)u64(file, load + 40);
    uint64_t from = file->when ? file->when(file->user, time) : 0;
    if (from < options->from) from = options->from;
    if (options->until && from >= options->until) return NTR_OK;

    ntr_name name = {
        .name = (const char *)file->bytes + load + LOAD_SIZE,
        .address = ntr_program_cut(file->program, address + options->bias),
        .size = code,
        .function = true,
        .code = true,
    };
    if (ntr_symbols_add(&file->image->symbols, file->program->allocator, &name))
        return FAIL(file, NTR_E_MEMORY, "out of memory");
    if (file->only_names) return NTR_OK;
    return ntr_program_add_segment(file->program, name.address, file->bytes + load + size - code, code, from,
                                   options->until);
}

/* Second pass: adds code in the order of the records. */
static ntr_status add_all_code(jit_file *file, size_t first) {
    size_t size;
    ntr_status status;
    for (size_t at = first; (status = record_size(file, at, &size)) == NTR_OK && size; at += size) {
        uint64_t time = u64(file, at + 8);
        if (u32(file, at) == ID_LOAD) status = add_code(file, at, u64(file, at + 32), time);
        if (u32(file, at) == ID_MOVE && size >= MOVE_SIZE) {
            const jit_code *code = code_of(file, u64(file, at + 56), at);
            if (code) status = add_code(file, code->at, u64(file, at + 40), time);
        }
        if (status != NTR_OK) return status;
    }
    return status;
}

static ntr_status read_file(jit_file *file) {
    size_t first = 0;
    ntr_status status = check_header(file, &first);
    if (status == NTR_OK) status = collect_codes(file, first);
    if (status == NTR_OK) status = add_all_code(file, first);
    if (status == NTR_OK && ntr_symbols_sort_in_order(&file->image->symbols, file->program->allocator))
        status = FAIL(file, NTR_E_MEMORY, "out of memory");
    return status;
}

static ntr_status add_file(jit_file *file, const ntr_image_options *options) {
    ntr_program *program = file->program;
    ntr_status status = ntr_program_add_mapped(program, file->path, options, &file->image);
    if (status != NTR_OK) return status;
    file->bytes = file->image->mapping;
    file->size = file->image->mapping_size;
    status = read_file(file);
    ntr_dealloc(program->allocator, file->codes);
    if (file->image->has_segments || status == NTR_OK) {
        ntr_status complete = ntr_program_complete_image(program);
        return status == NTR_OK ? complete : status;
    }
    ntr_program_drop_image(program);
    return status;
}

ntr_status ntr_program_add_jitdump(ntr_program *program, const char *path, const ntr_image_options *options,
                                   ntr_position_of_time when, void *user) {
    jit_file file = {.program = program, .path = path, .when = when, .user = user};
    return add_file(&file, options);
}

ntr_status ntr_program_add_jitdump_names(ntr_program *program, const char *path, const ntr_image_options *options) {
    jit_file file = {.program = program, .path = path, .only_names = true};
    return add_file(&file, options);
}
