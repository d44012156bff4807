/* RVFI as text, in the forms that cores write:
 *
 * - A table. Its first line names the columns, separated by commas, tabs or blanks; "rvfi_pc_rdata" and "pc" are the
 *   same. Columns that are not in the list below are ignored. Example, of Ibex: "Time  Cycle  PC  Insn  ...".
 * - The log of CVA6, "core   0: 0x... (0x...) DASM(...)", followed by a line with the privilege.
 *
 * Verilog writes addresses and opcodes with all of their digits and without 0x, so that the width of a pc tells XLEN.
 * A number without 0x that has not 8 or 16 digits may be decimal, and is refused. */
#include "ingress/core_log.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef enum rvfi_column {
    RVFI_OTHER,
    RVFI_PC,
    RVFI_INSN,
    RVFI_VALID,
    RVFI_TRAP,
    RVFI_INTR,
    RVFI_MODE,
    RVFI_DEBUG,
    RVFI_ORDER,
    RVFI_NEXT,
    RVFI_CYCLE,
    RVFI_COLUMNS,
} rvfi_column;

static const struct column_name {
    const char *name;
    uint8_t column;
} names[] = {
    {"pc_rdata", RVFI_PC}, {"pc", RVFI_PC},          {"pc_rdat", RVFI_PC},  {"insn", RVFI_INSN},
    {"instr", RVFI_INSN},  {"valid", RVFI_VALID},    {"trap", RVFI_TRAP},   {"intr", RVFI_INTR},
    {"mode", RVFI_MODE},   {"dbg_mode", RVFI_DEBUG}, {"order", RVFI_ORDER}, {"pc_wdata", RVFI_NEXT},
    {"cycle", RVFI_CYCLE}, {"cycles", RVFI_CYCLE},
};

typedef struct rvfi_cell {
    const char *text;
    size_t length;
} rvfi_cell;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static rvfi_cell trim(rvfi_cell cell) {
    while (cell.length && is_blank(*cell.text)) cell.text++, cell.length--;
    while (cell.length && is_blank(cell.text[cell.length - 1])) cell.length--;
    return cell;
}

/* Takes the next cell. Returns false at the end of the line. A cell in quotes may have commas. */
static bool next_cell(rvfi_form form, const char **at, const char *end, rvfi_cell *cell) {
    const char separator = form == RVFI_COMMAS ? ',' : '\t';
    if (form == RVFI_BLANKS)
        while (*at < end && is_blank(**at)) ++*at;
    if (*at >= end) return false;
    const char *start = *at, *p = start;
    if (form == RVFI_COMMAS && *p == '"') {
        for (p++; p < end && (*p != '"' || (p + 1 < end && p[1] == '"' && *++p)); p++) continue;
        *cell = (rvfi_cell){start + 1, (size_t)(p - start - 1)};
        while (p < end && *p != ',') p++;
    } else {
        while (p < end && (form == RVFI_BLANKS ? !is_blank(*p) : *p != separator)) p++;
        *cell = (rvfi_cell){start, (size_t)(p - start)};
    }
    *at = p + 1;
    *cell = trim(*cell);
    return true;
}

/* ---- the first line */

static uint8_t column_of(rvfi_cell cell) {
    static const char prefix[] = "rvfi_";
    char name[16];
    if (cell.length > sizeof prefix - 1 && strncmp(cell.text, prefix, sizeof prefix - 1) == 0)
        cell.text += sizeof prefix - 1, cell.length -= sizeof prefix - 1;
    if (cell.length >= sizeof name) return RVFI_OTHER;
    for (size_t i = 0; i < cell.length; i++)
        name[i] = (char)(cell.text[i] >= 'A' && cell.text[i] <= 'Z' ? cell.text[i] | 0x20 : cell.text[i]);
    name[cell.length] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0) return names[i].column;
    return RVFI_OTHER;
}

/* Tabs that are there for the eye make columns without a name: blanks separate the columns then. */
static rvfi_form form_of(const char *line, const char *end) {
    if (memchr(line, ',', (size_t)(end - line))) return RVFI_COMMAS;
    if (!memchr(line, '\t', (size_t)(end - line))) return RVFI_BLANKS;
    rvfi_cell cell;
    for (const char *at = line; next_cell(RVFI_TABS, &at, end, &cell);)
        if (!cell.length && cell.text > line) return RVFI_BLANKS;
    return RVFI_TABS;
}

static ntr_status take_names(ntr_core_log *log, const char *line, const char *end) {
    rvfi_reader *r = &log->rvfi;
    unsigned seen = 0;
    rvfi_cell cell;
    r->form = form_of(line, end);
    for (const char *at = line; r->count < CORE_COLUMNS && next_cell(r->form, &at, end, &cell);) {
        const uint8_t column = column_of(cell);
        if (column && seen & 1u << column)
            return ntr_core_log_refuse(log, "expected each column once, found '%.*s' again", (int)cell.length,
                                       cell.text);
        seen |= 1u << column;
        r->columns[r->count++] = column;
    }
    if (seen & 1u << RVFI_PC && seen & 1u << RVFI_INSN) return NTR_OK;
    return ntr_core_log_refuse(log, "expected the names of columns, rvfi_pc_rdata and rvfi_insn among them");
}

/* ---- numbers */

/* An address or opcode: after 0x, or with all of its digits. Stores the number of digits. */
static bool take_hex(rvfi_cell cell, uint64_t *value, size_t *digits) {
    const bool marked = cell.length > 2 && cell.text[0] == '0' && (cell.text[1] | 0x20) == 'x';
    if (marked) cell.text += 2, cell.length -= 2;
    *value = 0;
    *digits = cell.length;
    if (!cell.length || cell.length > 16) return false;
    if (!marked && cell.length != 4 && cell.length != 8 && cell.length != 16) return false;
    for (size_t i = 0; i < cell.length; i++) {
        if (ntr_digit(cell.text[i]) > 15) return false;
        *value = *value << 4 | ntr_digit(cell.text[i]);
    }
    return true;
}

static ntr_status take_pc(ntr_core_log *log, rvfi_cell cell, uint64_t *pc) {
    size_t digits;
    if (!take_hex(cell, pc, &digits) || (digits == 4 && cell.length == digits))
        return ntr_core_log_refuse(log, "expected a pc of 8 or 16 hexadecimal digits, or 0x..., found '%.*s'",
                                   cell.length > 40 ? 40 : (int)cell.length, cell.text);
    if (!log->xlen && digits != 8 && digits != 16)
        return ntr_core_log_refuse(log, "expected --xlen or a program (-e): the pc does not have 8 or 16 digits");
    if (!log->xlen) log->width.found = digits == 16;
    if (!log->xlen) log->xlen = digits == 8 ? 32 : 64;
    return ntr_logged_width_take(&log->width, *pc) ? NTR_OK : ntr_core_log_refuse(log, NTR_LOGGED_WIDTH_WHY);
}

/* ---- a row */

static ntr_status take_flag(ntr_core_log *log, const char *name, rvfi_cell cell, uint64_t *value) {
    size_t digits;
    if (ntr_parse_number(cell.text, cell.length, value) == NTR_OK || take_hex(cell, value, &digits)) return NTR_OK;
    return ntr_core_log_refuse(log, "%s: expected a number, found '%.*s'", name,
                               cell.length > 40 ? 40 : (int)cell.length, cell.text);
}

static bool is_zero(rvfi_cell cell) {
    uint64_t value = 1;
    return ntr_parse_number(cell.text, cell.length, &value) == NTR_OK && !value;
}

static ntr_status take_cell(ntr_core_log *log, core_record *r, unsigned column, rvfi_cell cell, uint64_t *next) {
    uint64_t value = 0;
    ntr_status status;
    switch (column) {
    case RVFI_PC: return take_pc(log, cell, &r->pc);
    case RVFI_NEXT: return take_pc(log, cell, next);
    case RVFI_TRAP:
        status = take_flag(log, "trap", cell, &value);
        r->trap = value != 0;
        return status;
    case RVFI_INTR:
        status = take_flag(log, "intr", cell, &value);
        r->handler = value != 0;
        return status;
    case RVFI_MODE:
        status = take_flag(log, "mode", cell, &value);
        if (status == NTR_OK && (value > NTR_PRIV_M || value == 2))
            return ntr_core_log_refuse(log, "mode: expected 0, 1 or 3, found %" PRIu64, value);
        if (r->priv != NTR_PRIV_D) r->priv = (uint8_t)value;
        return status;
    case RVFI_DEBUG:
        status = take_flag(log, "dbg_mode", cell, &value);
        if (value) r->priv = NTR_PRIV_D;
        return status;
    case RVFI_ORDER: r->has_order = true; return take_flag(log, "order", cell, &r->order);
    case RVFI_CYCLE: r->has_cycle = true; return take_flag(log, "cycle", cell, &r->cycle);
    default: return NTR_OK;
    }
}

/* The opcode of an instruction that trapped may be unknown. */
static ntr_status take_opcode(ntr_core_log *log, core_record *r, rvfi_cell cell) {
    size_t digits;
    if (take_hex(cell, &r->insn, &digits) || r->trap) return NTR_OK;
    return ntr_core_log_refuse(log, "expected an opcode of 4 or 8 hexadecimal digits, or 0x..., found '%.*s'",
                               cell.length > 40 ? 40 : (int)cell.length, cell.text);
}

static ntr_status take_row(ntr_core_log *log, const char *line, const char *end) {
    rvfi_reader *reader = &log->rvfi;
    rvfi_cell cells[CORE_COLUMNS], opcode = {"", 0};
    core_record r = {.priv = CORE_PRIV_UNKNOWN, .epc = reader->next};
    uint64_t next = NTR_ADDRESS_UNKNOWN;
    unsigned count = 0;
    ntr_status status = NTR_OK;
    for (const char *at = line; count < reader->count && next_cell(reader->form, &at, end, &cells[count]);) count++;
    for (unsigned i = 0; i < reader->count; i++) {
        if (reader->columns[i] && i >= count)
            return ntr_core_log_refuse(log, "expected %u columns, found %u", reader->count, count);
        if (reader->columns[i] == RVFI_VALID && is_zero(cells[i])) return NTR_OK;
        if (reader->columns[i] == RVFI_INSN) opcode = cells[i];
    }
    for (unsigned i = 0; i < count && status == NTR_OK; i++)
        status = take_cell(log, &r, reader->columns[i], cells[i], &next);
    if (status == NTR_OK) status = take_opcode(log, &r, opcode);
    if (r.trap) r.epc = NTR_ADDRESS_UNKNOWN; /* its own pc */
    reader->next = r.trap ? NTR_ADDRESS_UNKNOWN : next;
    return status == NTR_OK ? ntr_core_log_take(log, &r) : status;
}

/* ---- CVA6 */

static bool skip_text(const char **at, const char *end, const char *text) {
    const size_t length = strlen(text);
    if ((size_t)(end - *at) < length || memcmp(*at, text, length) != 0) return false;
    *at += length;
    while (*at < end && is_blank(**at)) ++*at;
    return true;
}

static bool skip_number(const char **at, const char *end, uint64_t *value) {
    const char *behind = ntr_read_number(*at, end, value);
    if (!behind) return false;
    *at = behind;
    while (*at < end && is_blank(**at)) ++*at;
    return true;
}

/* Takes "0xPC (0xOPCODE)". */
static bool take_place(const char **at, const char *end, core_record *r) {
    return end - *at > 2 && (*at)[1] == 'x' && skip_number(at, end, &r->pc) && skip_text(at, end, "(") &&
           skip_number(at, end, &r->insn) && skip_text(at, end, ")");
}

static ntr_status take_waiting(ntr_core_log *log) {
    if (!log->rvfi.waits) return NTR_OK;
    log->rvfi.waits = false;
    return ntr_core_log_take(log, &log->rvfi.waiting);
}

static ntr_status core_line(ntr_core_log *log, const char *at, const char *end) {
    core_record r = {.priv = CORE_PRIV_UNKNOWN, .epc = NTR_ADDRESS_UNKNOWN};
    uint64_t hart;
    r.handler = skip_text(&at, end, "INTERRUPT");
    if (!skip_number(&at, end, &hart) || !skip_text(&at, end, ":"))
        return ntr_core_log_refuse(log, "expected 'core N:'");
    if (hart != log->hart) return NTR_OK;
    if (!take_place(&at, end, &r)) return ntr_core_log_refuse(log, "expected pc and opcode in parentheses");
    ntr_status status = take_waiting(log);
    log->rvfi.waiting = r;
    log->rvfi.waits = true;
    return status;
}

/* "3 0xPC (0xOPCODE) ...": the privilege of the instruction of the line before. */
static ntr_status privilege_line(ntr_core_log *log, const char *at, const char *end) {
    core_record r = {0};
    uint64_t priv;
    if (!skip_number(&at, end, &priv) || !take_place(&at, end, &r)) return NTR_OK; /* a signal of the test bench */
    if (!log->rvfi.waits || r.pc != log->rvfi.waiting.pc) return NTR_OK; /* of another hart */
    if (priv > NTR_PRIV_M || priv == 2) return ntr_core_log_refuse(log, "expected privilege 0, 1 or 3");
    log->rvfi.waiting.priv = (uint8_t)priv;
    return take_waiting(log);
}

static ntr_status take_cva6(ntr_core_log *log, const char *at, const char *end) {
    static const char mark[] = "exception @ ";
    if (!log->xlen) return ntr_core_log_refuse(log, "expected --xlen or a program (-e): the log does not tell XLEN");
    if (skip_text(&at, end, "core")) return core_line(log, at, end);
    if (at < end && ntr_digit(*at) <= 9) return privilege_line(log, at, end);
    const char *found = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
    if (!found) return NTR_OK;
    core_record r = {.priv = CORE_PRIV_UNKNOWN, .epc = NTR_ADDRESS_UNKNOWN, .trap = true};
    found += sizeof mark - 1;
    if (!take_place(&found, end, &r)) return ntr_core_log_refuse(log, "expected the address of an exception");
    ntr_status status = take_waiting(log);
    return status == NTR_OK ? ntr_core_log_take(log, &r) : status;
}

/* ---- lines */

ntr_status ntr_rvfi_text_line(ntr_core_log *log, const char *line, const char *end) {
    rvfi_reader *r = &log->rvfi;
    const char *at = line;
    while (at < end && is_blank(*at)) at++;
    if (at == end || *at == '#') return NTR_OK;
    if (r->form == RVFI_UNKNOWN && (end - at >= 5 && (memcmp(at, "core ", 5) == 0 || memcmp(at, "*** [", 5) == 0)))
        r->form = RVFI_CVA6;
    if (r->form == RVFI_CVA6) return take_cva6(log, at, end);
    return r->form == RVFI_UNKNOWN ? take_names(log, line, end) : take_row(log, line, end);
}

ntr_status ntr_rvfi_text_end(ntr_core_log *log) {
    return take_waiting(log);
}
