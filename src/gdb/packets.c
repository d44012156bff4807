#include "gdb/packets.h"

#include <string.h>

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
