/* Text form of ingress blocks: comma-separated values, one block per line. docs/ingress.md describes the columns. */
#include "base/text.h"

#include <ntrace/ingress.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct ingress_column {
    const char *name;
    uint64_t most;
    uint16_t offset;
    uint8_t size; /* of the member: 1, 4 or 8 */
    bool hex;
    bool of_access; /* a member of ntr_data_record, else of ntr_ingress */
} ingress_column;

#define COLUMN(name, member, most, hex)                                                                                \
    {name, most, offsetof(ntr_ingress, member), sizeof(((ntr_ingress *)0)->member), hex, false},
#define DATA_COLUMN(name, member, most)                                                                                \
    {name, most, offsetof(ntr_data_record, member), sizeof(((ntr_data_record *)0)->member), false, true},
static const ingress_column COLUMNS[] = {
#include "ingress/columns.def"
};
#undef DATA_COLUMN
#undef COLUMN

enum { COLUMNS_READ = sizeof COLUMNS / sizeof *COLUMNS };

_Static_assert((int)COLUMNS_READ == NTR_INGRESS_COLUMNS + NTR_INGRESS_DATA_COLUMNS, "one column array entry each");

static bool is_address(const ingress_column *c) {
    return !c->of_access && c->offset == offsetof(ntr_ingress, iaddr);
}

static bool is_data_address(const ingress_column *c) {
    return c->of_access && c->offset == offsetof(ntr_data_record, address);
}

static void store(void *record, const ingress_column *c, uint64_t value) {
    char *at = (char *)record + c->offset;
    uint8_t byte = (uint8_t)value;
    uint32_t word = (uint32_t)value;
    memcpy(at, c->size == 1 ? (void *)&byte : c->size == 4 ? (void *)&word : (void *)&value, c->size);
}

static uint64_t load(const ntr_ingress *block, const ingress_column *c) {
    const char *at = (const char *)block + c->offset;
    uint8_t byte;
    uint32_t word;
    uint64_t all;
    if (c->size == sizeof byte) return memcpy(&byte, at, sizeof byte), byte;
    if (c->size == sizeof word) return memcpy(&word, at, sizeof word), word;
    return memcpy(&all, at, sizeof all), all;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

typedef struct cell {
    const char *at, *end;
} cell;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static cell trim(cell c) {
    while (c.at < c.end && is_blank(*c.at)) c.at++;
    while (c.at < c.end && is_blank(c.end[-1])) c.end--;
    return c;
}

/* Takes the next cell of the line. Returns false when there is none. *rest is NULL at the end of the line. */
static bool next_cell(const char **rest, const char *end, cell *c) {
    if (!*rest) return false;
    const char *comma = memchr(*rest, ',', (size_t)(end - *rest));
    *c = trim((cell){*rest, comma ? comma : end});
    *rest = comma ? comma + 1 : NULL;
    return true;
}

__attribute__((format(printf, 3, 4), cold)) static ntr_status refuse(ntr_ingress_reader *r, ntr_status status,
                                                                     const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(r->error, sizeof r->error, format, list);
    va_end(list);
    return status;
}

static int shown(cell c) {
    return c.end - c.at > 40 ? 40 : (int)(c.end - c.at);
}

static ntr_status read_header(ntr_ingress_reader *r, const char *line, const char *end) {
    cell c;
    while (next_cell(&line, end, &c)) {
        unsigned i = 0;
        size_t length = (size_t)(c.end - c.at);
        while (i < COLUMNS_READ && (strlen(COLUMNS[i].name) != length || memcmp(COLUMNS[i].name, c.at, length) != 0))
            i++;
        if (i == COLUMNS_READ)
            return r->count = 0, refuse(r, NTR_E_NAME, "there is no column \"%.*s\"", shown(c), c.at);
        if (memchr(r->columns, (int)i, r->count))
            return r->count = 0, refuse(r, NTR_E_SYNTAX, "column %s is there twice", COLUMNS[i].name);
        r->columns[r->count++] = (uint8_t)i;
    }
    return NTR_NEED_MORE;
}

static ntr_status read_cell(ntr_ingress_reader *r, const ingress_column *col, cell c, ntr_ingress *block) {
    uint64_t value;
    if (c.at == c.end) return NTR_OK;
    if (ntr_read_number(c.at, c.end, &value) != c.end)
        return refuse(r, NTR_E_SYNTAX, "column %s: \"%.*s\" is no number", col->name, shown(c), c.at);
    if (value > col->most)
        return refuse(r, NTR_E_RANGE, "column %s: %.*s is more than %" PRIu64, col->name, shown(c), c.at, col->most);
    store(col->of_access ? (void *)&r->access : (void *)block, col, value);
    if (is_address(col)) block->no_iaddr = false;
    if (is_data_address(col)) r->has_access = true;
    return NTR_OK;
}

void ntr_ingress_reader_init(ntr_ingress_reader *reader) {
    memset(reader, 0, sizeof *reader);
}

ntr_status ntr_ingress_read(ntr_ingress_reader *r, const char *line, size_t length, ntr_ingress *block) {
    const char *end = line + length;
    cell all = trim((cell){line, end}), c;
    r->line++;
    if (all.at == all.end || *all.at == '#') return NTR_NEED_MORE;
    if (!r->count) return read_header(r, line, end);
    *block = (ntr_ingress){.cycle = true, .no_iaddr = true};
    r->access = (ntr_data_record){0};
    r->has_access = false;
    unsigned i = 0;
    for (; i < r->count && next_cell(&line, end, &c); i++) {
        ntr_status status = read_cell(r, &COLUMNS[r->columns[i]], c, block);
        if (status != NTR_OK) return status;
    }
    if (i < r->count || line)
        return refuse(r, NTR_E_SYNTAX, "%s than the header's %u columns", line ? "more" : "fewer", r->count);
    r->record++;
    return NTR_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

#define COLUMN(name, member, most, hex) "," name
static const char HEADER[] =
#include "ingress/columns.def"
    ;
#undef COLUMN

const char *ntr_ingress_header(void) {
    return HEADER + 1;
}

int ntr_ingress_format(const ntr_ingress *block, char *out, size_t capacity) {
    size_t used = 0;
    for (unsigned i = 0; i < NTR_INGRESS_COLUMNS; i++) {
        const ingress_column *col = &COLUMNS[i];
        uint64_t value = load(block, col);
        char text[24] = "";
        if (!is_address(col) || !block->no_iaddr)
            snprintf(text, sizeof text, col->hex ? "0x%" PRIx64 : "%" PRIu64, value);
        int written = snprintf(out + used, capacity - used, i ? ",%s" : "%s", text);
        if (written < 0 || (size_t)written >= capacity - used) return NTR_E_SPACE;
        used += (size_t)written;
    }
    return (int)used;
}
