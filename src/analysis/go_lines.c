/* Values of a function, such as lines: pairs of numbers in groups of 7 bits, the lowest first. The first of a pair,
 * with the sign in bit 0, is added to the value, which is -1 at the beginning; the value then applies to as many units
 * of code as the second one says. A 0 that is not the first value ends the list.
 *
 * Example: the bytes 16 2 4 3 0 and a unit of 2 bytes: value 7 for 4 bytes, 9 for 6 bytes. */
#include "analysis/go_lines.h"

#include "base/allocator.h"
#include "base/text.h"
#include "program/go_table.h"
#include "program/program.h"

#include <stdlib.h>

/* The parts of a damaged table may overlap. */
enum { GO_ROWS_MAX = 1 << 22, GO_STEPS_MAX = 1 << 24 };

typedef struct go_values {
    const ntr_go_table *table;
    uint64_t at;   /* of the next pair */
    uint64_t next; /* the value applies to the code before this address */
    uint32_t value;
    bool begun;
} go_values;

typedef struct go_rows {
    const ntr_program *program;
    const ntr_image *image;
    const ntr_go_table *table;
    ntr_texts *texts;
    const ntr_allocator *allocator;
    ntr_line_row *rows;
    size_t count, capacity, steps;
    const char *text, *file; /* of the table and, cleaned, of the row that was added last */
} go_rows;

static bool take(go_values *v, uint32_t *number) {
    *number = 0;
    for (unsigned shift = 0; shift < 32 && v->at < v->table->bytes.size; shift += 7) {
        const uint8_t byte = v->table->bytes.data[v->at++];
        *number |= (uint32_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

/* Goes on to the next value. Returns false at the end. */
static bool advance(go_values *v) {
    uint32_t change, units;
    if (!take(v, &change) || (!change && v->begun) || !take(v, &units)) return false;
    v->value += change & 1 ? ~(change >> 1) : change >> 1;
    v->next += (uint64_t)units * v->table->quantum;
    v->begun = true;
    return true;
}

/* The values at which `number` of the record leads. */
static bool begin(const ntr_go_table *table, const ntr_go_function *function, unsigned number, go_values *v) {
    uint32_t at;
    if (!ntr_go_table_number(table, function->record + 4 * number, &at) || !at) return false;
    *v = (go_values){.table = table, .at = table->values + at, .next = function->start, .value = UINT32_MAX};
    return advance(v);
}

static const char *clean(go_rows *r, const char *text) {
    char cleaned[NTR_NAME_CLEANED_MAX + 1];
    if (text == r->text) return r->file;
    r->text = text;
    if (!ntr_name_is_clean(text)) {
        ntr_name_clean(text, cleaned);
        text = cleaned;
    }
    return r->file = ntr_texts_keep(r->texts, text);
}

static ntr_status add_row(go_rows *r, uint64_t start, uint64_t end, const char *text, uint32_t line) {
    const uint64_t address = ntr_program_cut(r->program, r->table->code + start + r->image->options.bias);
    ntr_line_row *last = r->count ? &r->rows[r->count - 1] : NULL;
    const char *file = clean(r, text);
    if (!file) return NTR_E_MEMORY;
    if (last && last->file == file && last->line == line && last->address + last->size == address) {
        last->size += end - start;
        return NTR_OK;
    }
    if (r->count == GO_ROWS_MAX) return NTR_OK;
    if (ntr_reserve(r->allocator, (void **)&r->rows, &r->capacity, r->count + 1, sizeof *r->rows)) return NTR_E_MEMORY;
    r->rows[r->count++] =
        (ntr_line_row){.address = address, .size = end - start, .file = file, .line = line, .is_statement = true};
    return NTR_OK;
}

/* The name of a file of the unit: the table of units has its place. */
static const char *file_of(const ntr_go_table *table, uint32_t unit, uint32_t file) {
    uint32_t at;
    if (!ntr_go_table_number(table, table->units + 4 * ((uint64_t)unit + file), &at)) return NULL;
    return ntr_go_table_text(table, table->files + at);
}

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static ntr_status add_function(go_rows *r, const ntr_go_function *function) {
    go_values files, lines;
    uint32_t unit;
    if (!begin(r->table, function, NTR_GO_FILES, &files) || !begin(r->table, function, NTR_GO_LINES, &lines))
        return NTR_OK;
    if (!ntr_go_table_number(r->table, function->record + 4 * NTR_GO_UNIT, &unit)) return NTR_OK;
    for (uint64_t at = function->start; at < function->end && r->steps < GO_STEPS_MAX; r->steps++) {
        const uint64_t end = lesser(function->end, lesser(files.next, lines.next));
        const char *file = file_of(r->table, unit, files.value);
        ntr_status status = file && end > at ? add_row(r, at, end, file, lines.value) : NTR_OK;
        if (status != NTR_OK) return status;
        at = end > at ? end : at;
        if (files.next <= at && !advance(&files)) break;
        if (lines.next <= at && !advance(&lines)) break;
    }
    return NTR_OK;
}

static int by_address(const void *a, const void *b) {
    const ntr_line_row *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Functions of a damaged table may overlap. */
static void cut_overlaps(go_rows *r) {
    if (r->count) qsort(r->rows, r->count, sizeof *r->rows, by_address);
    for (size_t i = 1; i < r->count; i++) {
        ntr_line_row *row = &r->rows[i - 1];
        row->size = lesser(row->size, row[1].address - row->address);
    }
}

ntr_status ntr_go_lines(const ntr_program *program, size_t index, ntr_texts *texts, const ntr_allocator *allocator,
                        ntr_line_row **rows, size_t *count) {
    ntr_go_table table;
    ntr_go_function function;
    go_rows r = {
        .program = program, .image = &program->images[index], .table = &table, .texts = texts, .allocator = allocator};
    ntr_status status = NTR_OK;
    const bool good = ntr_go_table_read(&table, r.image->go_table, program->xlen);
    for (uint64_t i = 0; good && i < table.count && status == NTR_OK; i++)
        if (ntr_go_table_function(&table, i, &function)) status = add_function(&r, &function);
    cut_overlaps(&r);
    *rows = r.rows;
    *count = r.count;
    return status;
}
