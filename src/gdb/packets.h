/* Packets of the GDB remote protocol: "$data#checksum", acknowledged with + or - until that is switched off. */
#ifndef NTR_GDB_PACKETS_H
#define NTR_GDB_PACKETS_H

#include <ntrace/allocator.h>
#include <ntrace/status.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- A growing text, and numbers in the forms of the protocol. */

typedef struct ntr_gdb_text {
    const ntr_allocator *allocator;
    char *bytes; /* ends with a NUL that `size` does not count */
    size_t size, capacity;
    bool failed; /* out of memory: the text is incomplete */
} ntr_gdb_text;

void ntr_gdb_text_clear(ntr_gdb_text *text);
void ntr_gdb_text_add(ntr_gdb_text *text, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void ntr_gdb_text_print(ntr_gdb_text *text, const char *format, ...);

/* Adds bytes as hexadecimal digits; a value of `bits` bits, least significant byte first; or as many `x`. */
void ntr_gdb_text_hex(ntr_gdb_text *text, const void *bytes, size_t size);
void ntr_gdb_text_value(ntr_gdb_text *text, uint64_t value, unsigned bits);
void ntr_gdb_text_unknown(ntr_gdb_text *text, unsigned bits);

/* Adds text for the value of an XML attribute. */
void ntr_gdb_text_xml(ntr_gdb_text *text, const char *value);

void ntr_gdb_text_release(ntr_gdb_text *text);

/* Reads a hexadecimal number at *at, and moves behind it. Returns false when there is none, or one of more than 64
 * bits. */
bool ntr_gdb_number(const char **at, uint64_t *number);

/* Returns the value of a hexadecimal digit, or -1. */
int ntr_gdb_digit(char c);

/* The same for a character that must follow. */
bool ntr_gdb_character(const char **at, char expected);

#define NTR_GDB_PACKET_SIZE 0x4000 /* announced by PacketSize; longer packets are refused */

typedef enum ntr_gdb_input {
    NTR_GDB_NOTHING = 0, /* more bytes are needed */
    NTR_GDB_PACKET,      /* `data` has a packet */
    NTR_GDB_DAMAGED,     /* a packet with a wrong checksum, or a too long one */
    NTR_GDB_REPEAT,      /* the debugger asks for the last answer again */
} ntr_gdb_input;

typedef struct ntr_gdb_packets {
    char data[NTR_GDB_PACKET_SIZE + 1]; /* ends with a NUL; packets from a debugger are text but for `X` */
    size_t size;
    uint8_t sum, state;
    int expected;  /* the checksum, as far as it was read */
    bool too_long;
} ntr_gdb_packets;

/* Takes one byte. */
ntr_gdb_input ntr_gdb_packets_take(ntr_gdb_packets *packets, uint8_t byte);

/* Adds a packet with this content to `out`; bytes with a meaning in the protocol are escaped. */
void ntr_gdb_packet_add(ntr_gdb_text *out, const char *data, size_t size);

#endif
