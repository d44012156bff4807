#include "gdb/packets.h"
#include "base/allocator.h"
#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

void ntr_gdb_text_clear(ntr_gdb_text *text) {
    text->size = 0;
    text->failed = false;
    if (text->bytes) text->bytes[0] = 0;
}

static bool reserve(ntr_gdb_text *text, size_t more) {
    if (ntr_reserve(text->allocator, (void **)&text->bytes, &text->capacity, text->size + more + 1, 1))
        text->failed = true;
    return !text->failed;
}

void ntr_gdb_text_add(ntr_gdb_text *text, const void *bytes, size_t size) {
    if (!reserve(text, size)) return;
    if (size) memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

void ntr_gdb_text_print(ntr_gdb_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size >= 0 && reserve(text, (size_t)size)) {
        vsnprintf(text->bytes + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
}

void ntr_gdb_text_hex(ntr_gdb_text *text, const void *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    if (!reserve(text, 2 * size)) return;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        text->bytes[text->size++] = digits[byte >> 4];
        text->bytes[text->size++] = digits[byte & 15];
    }
    text->bytes[text->size] = 0;
}

void ntr_gdb_text_value(ntr_gdb_text *text, uint64_t value, unsigned bits) {
    uint8_t bytes[8];
    ntr_little_put(bytes, value, sizeof bytes);
    ntr_gdb_text_hex(text, bytes, bits / 8);
}

void ntr_gdb_text_unknown(ntr_gdb_text *text, unsigned bits) {
    for (unsigned i = 0; i < bits / 4; i++) ntr_gdb_text_add(text, "x", 1);
}

void ntr_gdb_text_xml(ntr_gdb_text *text, const char *value) {
    for (; *value; value++) {
        if (strchr("<>&\"'", *value) || (unsigned char)*value < ' ')
            ntr_gdb_text_print(text, "&#%u;", (unsigned)(unsigned char)*value);
        else
            ntr_gdb_text_add(text, value, 1);
    }
}

void ntr_gdb_text_release(ntr_gdb_text *text) {
    ntr_dealloc(text->allocator, text->bytes);
    text->bytes = NULL;
    text->size = text->capacity = 0;
}

int ntr_gdb_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool ntr_gdb_number(const char **at, uint64_t *number) {
    const char *start = *at;
    *number = 0;
    for (int digit; (digit = ntr_gdb_digit(**at)) >= 0; ++*at) {
        if (*number >> 60) return false;
        *number = *number << 4 | (unsigned)digit;
    }
    return *at > start;
}

bool ntr_gdb_character(const char **at, char expected) {
    if (**at != expected) return false;
    ++*at;
    return true;
}

enum packet_state { NO_PACKET = 0, IN_PACKET, ESCAPED, FIRST_DIGIT, SECOND_DIGIT };

static void begin(ntr_gdb_packets *p) {
    p->size = 0;
    p->sum = 0;
    p->too_long = false;
    p->state = IN_PACKET;
}

static void append(ntr_gdb_packets *p, uint8_t byte) {
    if (p->size < NTR_GDB_PACKET_SIZE)
        p->data[p->size++] = (char)byte;
    else
        p->too_long = true;
}

static void inside(ntr_gdb_packets *p, uint8_t byte) {
    if (byte == '#') {
        p->state = FIRST_DIGIT;
        return;
    }
    p->sum = (uint8_t)(p->sum + byte);
    if (p->state == ESCAPED) {
        append(p, byte ^ 0x20);
        p->state = IN_PACKET;
    } else if (byte == '}') {
        p->state = ESCAPED;
    } else {
        append(p, byte);
    }
}

ntr_gdb_input ntr_gdb_packets_take(ntr_gdb_packets *p, uint8_t byte) {
    if (byte == '$') { /* never inside of a packet: the end of the packet before is missing */
        begin(p);
        return NTR_GDB_NOTHING;
    }
    switch ((enum packet_state)p->state) {
    case NO_PACKET: return byte == '-' ? NTR_GDB_REPEAT : NTR_GDB_NOTHING;
    case IN_PACKET:
    case ESCAPED: inside(p, byte); return NTR_GDB_NOTHING;
    case FIRST_DIGIT:
        p->expected = ntr_gdb_digit((char)byte);
        p->state = SECOND_DIGIT;
        return NTR_GDB_NOTHING;
    case SECOND_DIGIT: break;
    }
    int digit = ntr_gdb_digit((char)byte);
    p->state = NO_PACKET;
    p->data[p->size] = 0;
    bool good = digit >= 0 && p->expected >= 0 && (p->expected << 4 | digit) == p->sum && !p->too_long;
    return good ? NTR_GDB_PACKET : NTR_GDB_DAMAGED;
}

void ntr_gdb_packet_add(ntr_gdb_text *out, const char *data, size_t size) {
    uint8_t sum = 0;
    ntr_gdb_text_add(out, "$", 1);
    for (size_t i = 0; i < size; i++) {
        char c = data[i];
        if (c == '$' || c == '#' || c == '}' || c == '*') {
            ntr_gdb_text_add(out, "}", 1);
            sum = (uint8_t)(sum + '}');
            c ^= 0x20;
        }
        ntr_gdb_text_add(out, &c, 1);
        sum = (uint8_t)(sum + (uint8_t)c);
    }
    ntr_gdb_text_print(out, "#%02x", sum);
}
