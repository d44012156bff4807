#include "program/go_table.h"
#include "base/bytes.h"

#include <string.h>

#define MAGIC_1_18 UINT64_C(0xfffffff0)
#define MAGIC_1_20 UINT64_C(0xfffffff1)

enum { HEADER_WORDS = 8, HEADER_START = 8, PAIR_SIZE = 8, FUNCTIONS_MAX = 1 << 22, GO_TEXT_MAX = 65535 };

static uint64_t number_at(ntr_bytes table, uint64_t at, unsigned size) {
    return ntr_little(table.data + at, size);
}

static bool is_inside(ntr_bytes table, uint64_t at, uint64_t size) {
    return at <= table.size && size <= table.size - at;
}

bool ntr_go_table_read(ntr_go_table *table, ntr_bytes bytes, unsigned xlen) {
    const unsigned word = xlen / 8;
    uint64_t header[HEADER_WORDS];
    if (!is_inside(bytes, 0, HEADER_START + HEADER_WORDS * word)) return false;
    const uint64_t magic = number_at(bytes, 0, 4);
    if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || bytes.data[7] != word) return false;
    for (unsigned i = 0; i < HEADER_WORDS; i++) header[i] = number_at(bytes, HEADER_START + i * word, word);
    *table = (ntr_go_table){.bytes = bytes,
                            .quantum = bytes.data[6],
                            .count = header[0],
                            .code = header[2],
                            .names = header[3],
                            .units = header[4],
                            .files = header[5],
                            .values = header[6],
                            .functions = header[7]};
    return table->count <= FUNCTIONS_MAX && is_inside(bytes, table->functions, table->count * PAIR_SIZE + 4);
}

bool ntr_go_table_number(const ntr_go_table *table, uint64_t at, uint32_t *number) {
    if (!is_inside(table->bytes, at, 4)) return false;
    *number = (uint32_t)number_at(table->bytes, at, 4);
    return true;
}

bool ntr_go_table_function(const ntr_go_table *table, uint64_t index, ntr_go_function *function) {
    const uint64_t at = table->functions + index * PAIR_SIZE;
    *function = (ntr_go_function){.start = number_at(table->bytes, at, 4),
                                  .end = number_at(table->bytes, at + 8, 4),
                                  .record = table->functions + number_at(table->bytes, at + 4, 4)};
    return function->start < function->end;
}

const char *ntr_go_table_text(const ntr_go_table *table, uint64_t at) {
    if (at >= table->bytes.size) return NULL;
    const size_t room = table->bytes.size - (size_t)at;
    const char *text = (const char *)table->bytes.data + at;
    return *text && memchr(text, 0, room < GO_TEXT_MAX ? room : GO_TEXT_MAX) ? text : NULL;
}
