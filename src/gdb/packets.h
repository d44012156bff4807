/* Packets of the GDB remote protocol: "$data#checksum", acknowledged with + or - until that is switched off. */
#ifndef NTR_GDB_PACKETS_H
#define NTR_GDB_PACKETS_H

#include "gdb/text.h"

#include <ntrace/status.h>

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
