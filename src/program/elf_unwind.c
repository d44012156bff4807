/* Functions of the unwind table, .eh_frame (Linux Standard Base, section "Exception Frames"; DWARF 5 section 6.4).
 *
 * The table has an entry (FDE) with the address range of each function, also in stripped files. The encoding of the
 * range is in the common entry (CIE) that the FDE refers to. Damaged and unknown entries are skipped. */
#include "program/elf_file.h"
#include "base/bytes.h"

#include <string.h>

/* Encodings of pointers: DW_EH_PE_*. The low 4 bits are the format, the next 3 the base. */
enum { EH_FORMAT = 0x0f, EH_BASE = 0x70, EH_INDIRECT = 0x80, EH_OMIT = 0xff, EH_BASE_NONE = 0, EH_BASE_PC = 0x10 };

/* Compilers use up to 5 letters, "zPLRS". */
enum { AUGMENTATION_MAX = 16 };

/* A position in the table. After a read past the end, `failed` is set and all values are 0. */
typedef struct unwind_cursor {
    const uint8_t *bytes;
    size_t at, end;
    bool failed;
} unwind_cursor;

typedef struct unwind {
    ntr_elf *file;
    ntr_bytes table;
    uint64_t address; /* of the table, without load bias */
    unsigned word;    /* bytes of an address */
    size_t cie;       /* the last CIE that was read, and the encoding of the addresses of its FDEs */
    uint8_t encoding;
    bool has_cie;
} unwind;

static uint64_t take(unwind_cursor *c, unsigned size) {
    if (c->failed || size > c->end - c->at) {
        c->failed = true;
        return 0;
    }
    c->at += size;
    return ntr_little(c->bytes + c->at - size, size);
}

/* The values of LEB128 numbers are not needed. */
static void skip_leb(unwind_cursor *c) {
    while (take(c, 1) & 0x80) continue;
}

/* Reads a number in the format of an encoding; 0 in an unknown format. */
static uint64_t take_encoded(unwind_cursor *c, unsigned word, uint8_t encoding) {
    static const uint8_t sizes[16] = {[2] = 2, [3] = 4, [4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
    unsigned format = encoding & EH_FORMAT, size = format == 0 ? word : sizes[format];
    uint64_t value = take(c, size);
    if (size == 0) c->failed = true;
    if (format & 8 && size && size < 8 && value >> (8 * size - 1)) value |= ~UINT64_C(0) << (8 * size);
    return value;
}

/* Reads the augmentation of a CIE up to 'R', the encoding of the addresses in its FDEs. */
static void take_augmentation(unwind_cursor *c, unsigned word, const char *letters, uint8_t *encoding) {
    for (; *letters && !c->failed; letters++) {
        uint8_t value = *letters == 'R' || *letters == 'L' || *letters == 'P' ? (uint8_t)take(c, 1) : 0;
        if (*letters == 'R') *encoding = value;
        if (*letters == 'P') take_encoded(c, word, value);
    }
}

/* Reads the CIE at `at`. */
static bool read_cie(unwind *u, size_t at) {
    unwind_cursor c = {u->table.data, at, u->table.size, false};
    char letters[AUGMENTATION_MAX + 1] = {0};
    uint64_t length = take(&c, 4);
    if (length == UINT32_MAX) length = take(&c, 8);
    if (c.failed || length > c.end - c.at) return false;
    c.end = c.at + (size_t)length;
    if (take(&c, 4) != 0) return false; /* the mark of a CIE */
    unsigned version = (unsigned)take(&c, 1);
    for (size_t i = 0; i < AUGMENTATION_MAX && (letters[i] = (char)take(&c, 1)); i++) continue;
    skip_leb(&c); /* alignment factors of code and data, and the column of the return address */
    skip_leb(&c);
    if (version == 1)
        take(&c, 1);
    else
        skip_leb(&c);
    u->encoding = 0;
    if (letters[0] == 'z') {
        skip_leb(&c);
        take_augmentation(&c, u->word, letters + 1, &u->encoding);
    }
    u->cie = at;
    u->has_cie = !c.failed;
    return u->has_cie;
}

static ntr_status add_function(unwind *u, uint64_t address, uint64_t size) {
    const ntr_program *program = u->file->program;
    const uint64_t first = ntr_program_cut(program, address + u->file->image->options.bias);
    const uint64_t last = ntr_program_cut(program, first + (size - 1));
    if (size == 0 || last < first) return NTR_OK;
    if (ntr_symbols_add_range(&u->file->image->symbols, program->allocator, NTR_RANGES_FUNCTION, first, last))
        return ELF_FAIL(u->file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

/* Reads an FDE. `c` is after its reference to the CIE. */
static ntr_status read_fde(unwind *u, unwind_cursor *c, size_t cie) {
    if ((!u->has_cie || u->cie != cie) && !read_cie(u, cie)) return NTR_OK;
    const uint8_t encoding = u->encoding;
    const uint64_t here = u->address + c->at;
    if (encoding == EH_OMIT || encoding & EH_INDIRECT) return NTR_OK;
    uint64_t address = take_encoded(c, u->word, encoding);
    if ((encoding & EH_BASE) == EH_BASE_PC)
        address += here;
    else if ((encoding & EH_BASE) != EH_BASE_NONE)
        return NTR_OK;
    uint64_t size = take_encoded(c, u->word, encoding & 7); /* not signed */
    return c->failed ? NTR_OK : add_function(u, address, size);
}

ntr_status ntr_elf_read_unwind(ntr_elf *file, const GElf_Shdr *section) {
    unwind u = {.file = file,
                .table = ntr_elf_section_bytes(file, section),
                .address = section->sh_addr,
                .word = file->xlen == 32 ? 4 : 8};
    unwind_cursor all = {u.table.data, 0, u.table.size, false};
    while (all.at < all.end) {
        uint64_t length = take(&all, 4);
        if (length == UINT32_MAX) length = take(&all, 8);
        if (all.failed || length > all.end - all.at) break;
        unwind_cursor entry = {all.bytes, all.at, all.at + (size_t)length, false};
        const size_t mark = entry.at;
        uint64_t reference = take(&entry, 4); /* the distance of the CIE; 0: this is one */
        if (reference && reference <= mark) {
            ntr_status status = read_fde(&u, &entry, mark - (size_t)reference);
            if (status != NTR_OK) return status;
        }
        all.at += (size_t)length;
    }
    return NTR_OK;
}
