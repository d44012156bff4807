/* The file that a script has written, as a bus:
 *
 *   # r ADDRESS VALUE   a register
 *   # fifo              the words that follow were read from trRamData
 *   # memory ADDRESS    the words that follow are memory
 *   12345678            a word
 *
 * Writes are remembered until the last word was read, so that the procedure that reads a sink finds the read pointer
 * where it has set it, and at the end where the script has left it. */
#include "target/buses.h"

#include "base/allocator.h"
#include "base/text.h"
#include "base/macros.h"

#include <ntrace/target.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORD_DIGITS = 8, BLOCKS = 4, ERROR = 100 };

typedef struct value_at {
    uint64_t address;
    uint32_t value;
} value_at;

typedef struct word_block {
    uint64_t address;
    size_t first, count;
    bool memory;
} word_block;

typedef struct words_bus {
    const ntr_allocator *allocator;
    value_at *registers;
    size_t register_count, register_capacity;
    value_at written[WORD_DIGITS];
    size_t written_count;
    uint32_t *words;
    size_t word_count, word_capacity, at;
    word_block blocks[BLOCKS];
    size_t block_count;
    char error[ERROR];
} words_bus;

/* ---- accesses */

static ntr_status fail(words_bus *bus, const char *what, uint64_t address) {
    snprintf(bus->error, sizeof bus->error, "the file has %s at 0x%" PRIx64, what, address);
    return NTR_E_IO;
}

static ntr_status read32(void *user, uint64_t address, uint32_t *value) {
    words_bus *bus = user;
    for (size_t i = bus->written_count; i-- > 0;)
        if (bus->written[i].address == address) {
            *value = bus->written[i].value;
            return NTR_OK;
        }
    for (size_t i = bus->register_count; i-- > 0;) /* the last value of a register is the newest */
        if (bus->registers[i].address == address) {
            *value = bus->registers[i].value;
            return NTR_OK;
        }
    return fail(bus, "no register", address);
}

static ntr_status write32(void *user, uint64_t address, uint32_t value) {
    words_bus *bus = user;
    size_t i = 0;
    while (i < bus->written_count && bus->written[i].address != address) i++;
    if (i == sizeof bus->written / sizeof bus->written[0]) return fail(bus, "no room for a write", address);
    if (i == bus->written_count) bus->written_count++;
    bus->written[i] = (value_at){address, value};
    return NTR_OK;
}

static ntr_status read_fifo(void *user, uint64_t address, uint32_t *words, size_t count) {
    words_bus *bus = user;
    if (count > bus->word_count - bus->at) return fail(bus, "too few words", address);
    if (count) memcpy(words, bus->words + bus->at, count * sizeof *words);
    bus->at += count;
    if (bus->at == bus->word_count) bus->written_count = 0;
    return NTR_OK;
}

static bool find_byte(const words_bus *bus, uint64_t address, uint8_t *byte) {
    for (size_t i = 0; i < bus->block_count; i++) {
        const word_block *block = &bus->blocks[i];
        if (!block->memory || address < block->address || address - block->address >= BUS_WORD * block->count) continue;
        const size_t offset = (size_t)(address - block->address);
        *byte = (uint8_t)(bus->words[block->first + offset / BUS_WORD] >> 8 * (offset % BUS_WORD));
        return true;
    }
    return false;
}

static ntr_status read_memory(void *user, uint64_t address, uint8_t *out, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (!find_byte(user, address + i, &out[i])) return fail(user, "no memory", address + i);
    return NTR_OK;
}

static const char *error(void *user) {
    return ((words_bus *)user)->error;
}

static void close_bus(void *user) {
    words_bus *bus = user;
    const ntr_allocator *allocator = bus->allocator;
    ntr_dealloc(allocator, bus->registers);
    ntr_dealloc(allocator, bus->words);
    ntr_dealloc(allocator, bus);
}

/* ---- the file */

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

static bool number(const char **at, const char *end, uint64_t *value) {
    const char *after = ntr_read_number(skip_blanks(*at, end), end, value);
    if (!after) return false;
    *at = skip_blanks(after, end);
    return true;
}

static ntr_status add_register(words_bus *bus, const char *at, const char *end) {
    uint64_t address, value;
    if (!number(&at, end, &address) || !number(&at, end, &value) || at != end || value > UINT32_MAX)
        return NTR_E_SYNTAX;
    if (ntr_reserve(bus->allocator, (void **)&bus->registers, &bus->register_capacity, bus->register_count + 1,
                    sizeof bus->registers[0]))
        return NTR_E_MEMORY;
    bus->registers[bus->register_count++] = (value_at){address, (uint32_t)value};
    return NTR_OK;
}

static ntr_status add_block(words_bus *bus, const char *at, const char *end, bool memory) {
    uint64_t address = 0;
    if (bus->block_count == BLOCKS || (memory && !number(&at, end, &address))) return NTR_E_SYNTAX;
    bus->blocks[bus->block_count++] = (word_block){address, bus->word_count, 0, memory};
    return NTR_OK;
}

static bool parse_word(const char *at, const char *end, uint32_t *word) {
    *word = 0;
    if (end - at != WORD_DIGITS) return false;
    for (; at < end; at++) {
        const unsigned digit = (unsigned char)*at - '0', letter = ((unsigned char)*at | 0x20u) - 'a';
        if (digit > 9 && letter > 5) return false;
        *word = *word << 4 | (digit <= 9 ? digit : letter + 10);
    }
    return true;
}

static ntr_status add_word(words_bus *bus, uint32_t word) {
    if (!bus->block_count) return NTR_E_SYNTAX;
    if (ntr_reserve(bus->allocator, (void **)&bus->words, &bus->word_capacity, bus->word_count + 1,
                    sizeof bus->words[0]))
        return NTR_E_MEMORY;
    bus->words[bus->word_count++] = word;
    bus->blocks[bus->block_count - 1].count++;
    return NTR_OK;
}

/* Other lines come from the debugger. */
static ntr_status add_line(words_bus *bus, const char *at, const char *end) {
    uint32_t word;
    while (end > at && (end[-1] == '\r' || end[-1] == ' ')) end--;
    const size_t length = (size_t)(end - at);
    if (length > 4 && memcmp(at, "# r ", 4) == 0) return add_register(bus, at + 4, end);
    if (length == 6 && memcmp(at, "# fifo", 6) == 0) return add_block(bus, at + 6, end, false);
    if (length > 9 && memcmp(at, "# memory ", 9) == 0) return add_block(bus, at + 9, end, true);
    return parse_word(at, end, &word) ? add_word(bus, word) : NTR_OK;
}

static ntr_status parse(words_bus *bus, ntr_bytes text, unsigned *line) {
    const char *at = (const char *)text.data, *end = at + text.size;
    for (*line = 1; at < end; ++*line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        TRY(add_line(bus, at, stop ? stop : end));
        at = stop ? stop + 1 : end;
    }
    *line = 0;
    return bus->register_count ? NTR_OK : NTR_E_FORMAT;
}

ntr_status ntr_bus_words(ntr_bus *out, ntr_bytes text, const ntr_allocator *allocator, unsigned *line) {
    words_bus *bus = ntr_alloc(allocator, 1, sizeof *bus);
    *line = 0;
    if (!bus) return NTR_E_MEMORY;
    bus->allocator = allocator;
    const ntr_status status = parse(bus, text, line);
    if (status != NTR_OK) {
        close_bus(bus);
        return status;
    }
    *out = (ntr_bus){.size = sizeof *out,
                     .user = bus,
                     .read32 = read32,
                     .write32 = write32,
                     .read_fifo = read_fifo,
                     .read_memory = read_memory,
                     .error = error,
                     .close = close_bus,
                     .advice = "Was the script made from this topology?"};
    return NTR_OK;
}
