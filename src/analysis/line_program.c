#include "analysis/line_program.h"

#include "base/bytes.h"

#include <dwarf.h>

/* Bytes that have not been read. `failed`: more was wanted than there is. */
typedef struct reader {
    const uint8_t *at, *end;
    bool failed;
} reader;

static uint64_t take(reader *r, size_t size) {
    if ((size_t)(r->end - r->at) < size) {
        r->failed = true;
        r->at = r->end;
        return 0;
    }
    r->at += size;
    return ntr_little(r->at - size, size);
}

/* Bits beyond 64 are lost. */
static uint64_t take_leb(reader *r, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)take(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && (byte & 0x40) && shift < 64) value |= UINT64_MAX << shift;
    return value;
}

/* The next `size` bytes as a reader of their own. */
static reader part(reader *r, uint64_t size) {
    if (size > (size_t)(r->end - r->at)) {
        r->failed = true;
        size = (size_t)(r->end - r->at);
    }
    const reader inner = {r->at, r->at + size, false};
    r->at += size;
    return inner;
}

typedef struct line_header {
    uint8_t instruction_size, line_range, opcode_base;
    int8_t line_base;
    bool statement;
    bool wide;               /* the 64-bit format */
    const uint8_t *operands; /* number of operands of standard opcodes, from opcode 1 */
    uint64_t version;
    reader tables; /* folders and files */
} line_header;

/* Reads the header up to the tables of folders and files, and leaves the program in `r`. */
static bool read_header(reader *r, line_header *h) {
    uint64_t length = take(r, 4);
    h->wide = length == UINT32_MAX;
    if (h->wide) length = take(r, 8);
    *r = part(r, length);
    h->version = take(r, 2);
    if (h->version < 2 || h->version > 5) return false;
    if (h->version == 5) take(r, 2); /* sizes of address and segment selector */
    const uint64_t size = take(r, h->wide ? 8 : 4);
    reader inner = part(r, size);
    h->instruction_size = (uint8_t)take(&inner, 1);
    if (h->version >= 4) take(&inner, 1); /* operations of an instruction: 1 on RISC-V */
    h->statement = take(&inner, 1) != 0;
    h->line_base = (int8_t)take(&inner, 1);
    h->line_range = (uint8_t)take(&inner, 1);
    h->opcode_base = (uint8_t)take(&inner, 1);
    if (h->opcode_base == 0 || h->line_range == 0) return false;
    h->operands = part(&inner, h->opcode_base - 1U).at;
    h->tables = inner;
    return !inner.failed && !r->failed;
}

typedef struct line_machine {
    line_header h;
    ntr_program_row state, last; /* registers; the row whose end is not known yet */
    bool in_sequence;
    ntr_status (*visit)(void *user, const ntr_program_row *row);
    void *user;
} line_machine;

static void reset(line_machine *m) {
    m->state = (ntr_program_row){.file = 1, .line = 1, .is_statement = m->h.statement};
    m->in_sequence = false;
}

/* Appends a row. The row before it ends where it begins. */
static ntr_status append(line_machine *m) {
    ntr_status status = NTR_OK;
    if (m->in_sequence) {
        m->last.end = m->state.address;
        if (m->last.end >= m->last.address) status = m->visit(m->user, &m->last);
    } else {
        m->state.sequence = m->state.address;
    }
    m->in_sequence = true;
    m->last = m->state;
    m->state.discriminator = 0;
    return status;
}

static ntr_status extended(line_machine *m, reader *r) {
    reader inner = part(r, take_leb(r, false));
    ntr_status status = NTR_OK;
    switch (take(&inner, 1)) {
    case DW_LNE_end_sequence:
        if (m->in_sequence) status = append(m);
        reset(m);
        return status;
    case DW_LNE_set_address: {
        const size_t size = (size_t)(inner.end - inner.at);
        if (size <= 8) m->state.address = take(&inner, size);
        return NTR_OK;
    }
    case DW_LNE_set_discriminator: m->state.discriminator = (uint32_t)take_leb(&inner, false); return NTR_OK;
    default: return NTR_OK;
    }
}

static void advance(line_machine *m, uint64_t operations) {
    m->state.address += operations * m->h.instruction_size;
}

static ntr_status standard(line_machine *m, reader *r, uint8_t opcode) {
    switch (opcode) {
    case DW_LNS_copy: return append(m);
    case DW_LNS_advance_pc: advance(m, take_leb(r, false)); break;
    case DW_LNS_advance_line: m->state.line += (uint32_t)take_leb(r, true); break;
    case DW_LNS_set_file: m->state.file = take_leb(r, false); break;
    case DW_LNS_set_column: m->state.column = (uint32_t)take_leb(r, false); break;
    case DW_LNS_negate_stmt: m->state.is_statement = !m->state.is_statement; break;
    case DW_LNS_const_add_pc: advance(m, (255U - m->h.opcode_base) / m->h.line_range); break;
    case DW_LNS_fixed_advance_pc: m->state.address += take(r, 2); break;
    default: /* nothing that matters here, or not known */
        for (unsigned i = m->h.operands[opcode - 1]; i; i--) take_leb(r, false);
    }
    return NTR_OK;
}

ntr_status ntr_line_program_read(ntr_bytes section, uint64_t offset,
                                 ntr_status (*visit)(void *user, const ntr_program_row *row), void *user,
                                 bool *damaged) {
    line_machine m = {.visit = visit, .user = user};
    ntr_status status = NTR_OK;
    *damaged = true;
    if (offset >= section.size) return NTR_OK;
    reader r = {section.data + offset, section.data + section.size, false};
    if (!read_header(&r, &m.h)) return NTR_OK;
    for (reset(&m); !status && r.at < r.end;) {
        const uint8_t opcode = (uint8_t)take(&r, 1);
        if (opcode >= m.h.opcode_base) {
            const uint8_t adjusted = (uint8_t)(opcode - m.h.opcode_base);
            advance(&m, adjusted / m.h.line_range);
            m.state.line += (uint32_t)(m.h.line_base + adjusted % m.h.line_range);
            status = append(&m);
        } else {
            status = opcode ? standard(&m, &r, opcode) : extended(&m, &r);
        }
        if (r.failed) return status;
    }
    *damaged = m.in_sequence && !status; /* without an end */
    return status;
}

/* ---- checksums of files ------------------------------------------------------------------------ */

enum { FORMATS_MAX = 16 };

/* What each entry of a table of folders or files consists of (DWARF 5, 6.2.4). */
typedef struct entry_format {
    size_t count;
    uint64_t contents[FORMATS_MAX], forms[FORMATS_MAX];
} entry_format;

static bool read_format(reader *r, entry_format *f) {
    f->count = (size_t)take(r, 1);
    if (f->count > FORMATS_MAX) return false;
    for (size_t i = 0; i < f->count; i++) {
        f->contents[i] = take_leb(r, false);
        f->forms[i] = take_leb(r, false);
    }
    return !r->failed;
}

/* Passes over a value. Returns false when the size of its form is not known. */
static bool pass_form(reader *r, uint64_t form, bool wide) {
    switch (form) {
    case DW_FORM_string:
        while (take(r, 1) && !r->failed) {
        }
        return true;
    case DW_FORM_line_strp:
    case DW_FORM_strp:
    case DW_FORM_sec_offset: part(r, wide ? 8 : 4); return true;
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_strx: take_leb(r, false); return true;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_strx1: part(r, 1); return true;
    case DW_FORM_data2:
    case DW_FORM_strx2: part(r, 2); return true;
    case DW_FORM_strx3: part(r, 3); return true;
    case DW_FORM_data4:
    case DW_FORM_strx4: part(r, 4); return true;
    case DW_FORM_data8: part(r, 8); return true;
    case DW_FORM_data16: part(r, 16); return true;
    case DW_FORM_block: part(r, take_leb(r, false)); return true;
    case DW_FORM_block1: part(r, take(r, 1)); return true;
    case DW_FORM_block2: part(r, take(r, 2)); return true;
    case DW_FORM_block4: part(r, take(r, 4)); return true;
    default: return false;
    }
}

/* Passes over an entry. Stores where its MD5 is, or NULL; an assembler writes zeros where it has none. */
static bool pass_entry(reader *r, const entry_format *f, bool wide, const uint8_t **md5) {
    *md5 = NULL;
    for (size_t i = 0; i < f->count; i++) {
        const uint8_t *at = r->at;
        uint8_t bits = 0;
        if (!pass_form(r, f->forms[i], wide) || r->failed) return false;
        if (f->contents[i] != DW_LNCT_MD5 || f->forms[i] != DW_FORM_data16) continue;
        for (unsigned k = 0; k < 16; k++) bits |= at[k];
        if (bits) *md5 = at;
    }
    return true;
}

void ntr_line_program_digests(ntr_bytes section, uint64_t offset, const uint8_t **digests, size_t count) {
    line_header h = {0};
    entry_format format;
    const uint8_t *md5;
    for (size_t i = 0; i < count; i++) digests[i] = NULL;
    if (offset >= section.size) return;
    reader r = {section.data + offset, section.data + section.size, false};
    if (!read_header(&r, &h) || h.version < 5) return;
    if (!read_format(&h.tables, &format)) return;
    uint64_t entries = take_leb(&h.tables, false);
    for (uint64_t i = 0; format.count && i < entries; i++)
        if (!pass_entry(&h.tables, &format, h.wide, &md5)) return;
    if (!read_format(&h.tables, &format)) return;
    entries = take_leb(&h.tables, false);
    for (size_t i = 0; format.count && i < entries && i < count; i++)
        if (!pass_entry(&h.tables, &format, h.wide, &digests[i])) return;
}
