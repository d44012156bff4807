/* A GDB server: OpenOCD, QEMU, probe-rs, J-Link, pyOCD, ...
 *
 * Every register access is one packet for 4 bytes at an aligned address: servers choose the width of the access by it.
 * OpenOCD answers a failed read with zeros, so its own commands are used, inside qRcmd packets. QEMU discards writes to
 * devices unless accesses are physical (Qqemu.PhyMemMode). */
#include "base/bytes.h"
#include "target/buses.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "target/rsp.h"
#include "target/tcl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_PART = 1024, CONSOLE_MAX = 256, PACKET_USUAL = 400, FRAME_BYTES = 4, STOP_PACKETS = 256 };

typedef struct gdb_bus {
    const ntr_allocator *allocator;
    rsp_client rsp;
    bool is_openocd, is_qemu;
    bool running; /* "c" was sent, and no stop reply has come */
    size_t part;  /* bytes of memory that one packet may ask for */
    tcl_client client;
    char error[300];
} gdb_bus;

static ntr_status fail_link(gdb_bus *bus) {
    snprintf(bus->error, sizeof bus->error, "%s", bus->rsp.link.error);
    return NTR_E_IO;
}

/* ---- hexadecimal text */

static bool parse_hex(const char *text, uint8_t *out, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned value = 0;
        for (unsigned k = 0; k < 2; k++) {
            const char c = text[2 * i + k];
            const int digit = c >= '0' && c <= '9'                 ? c - '0'
                              : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                   : -1;
            if (digit < 0) return false;
            value = value << 4 | (unsigned)digit;
        }
        out[i] = (uint8_t)value;
    }
    return true;
}

/* ---- commands of OpenOCD */

/* Appends hexadecimal text as characters. */
static size_t append_hex(const char *hex, char *result, size_t used) {
    uint8_t byte;
    for (; hex[0] && hex[1] && used + 1 < TCL_RESULT && parse_hex(hex, &byte, 1); hex += 2) result[used++] = (char)byte;
    result[used] = 0;
    return used;
}

/* Runs a command: its output comes in "O" packets, or as the answer itself. */
static ntr_status exchange_command(gdb_bus *bus, const char *command, char *result) {
    char packet[RSP_PACKET];
    size_t used = (size_t)snprintf(packet, sizeof packet, "qRcmd,"), out = 0;
    for (const char *at = command; *at && used + 3 < sizeof packet; at++)
        used += (size_t)snprintf(packet + used, sizeof packet - used, "%02x", (unsigned char)*at);
    result[0] = 0;
    TRY(rsp_send(&bus->rsp, packet));
    for (unsigned i = 0; i < CONSOLE_MAX; i++) {
        TRY(rsp_receive(&bus->rsp));
        const char *text = bus->rsp.packet;
        if (strcmp(text, "OK") == 0) return NTR_OK;
        if (text[0] == 'T' || text[0] == 'W') continue;
        if (text[0] == 'O')
            out = append_hex(text + 1, result, out);
        else {
            append_hex(text, result, out);
            return NTR_OK;
        }
    }
    return link_break(&bus->rsp.link, "the server's output does not end");
}

/* Events of the target also appear as console output, before or after the result. */
static void keep_result(char *result) {
    char *line = result;
    for (char *at = result; *at;) {
        char *end = strchr(at, '\n');
        if ((at[0] == '0' || at[0] == '1') && (at[1] == ' ' || at[1] == '\n' || !at[1])) line = at;
        if (!end) break;
        at = end + 1;
    }
    memmove(result, line, strlen(line) + 1);
}

static ntr_status run(void *user, const char *command, char *result) {
    gdb_bus *bus = user;
    ntr_status status = link_ready(&bus->rsp.link);
    if (status == NTR_OK) status = exchange_command(bus, command, result);
    if (status != NTR_OK) {
        snprintf(bus->client.error, sizeof bus->client.error, "%s", bus->rsp.link.error);
        return status;
    }
    keep_result(result);
    return NTR_OK;
}

/* ---- memory packets */

static ntr_status fail_packet(gdb_bus *bus, const char *what, uint64_t address) {
    const char *text = bus->rsp.packet;
    if (!*text)
        snprintf(bus->error, sizeof bus->error, "the server does not support a %s of memory", what);
    else
        snprintf(bus->error, sizeof bus->error, "the server says %.16s for a %s at 0x%" PRIx64, text, what, address);
    return NTR_E_IO;
}

/* A server that waits for a breakpoint takes no packets: the hart is halted for the access, and continued. */
static ntr_status halt_running(gdb_bus *bus) {
    link_begin(&bus->rsp.link);
    TRY(link_send(&bus->rsp.link, "\x03", 1));
    do TRY(rsp_receive(&bus->rsp));
    while (bus->rsp.packet[0] != 'T' && bus->rsp.packet[0] != 'S');
    return NTR_OK;
}

static ntr_status ask_memory(gdb_bus *bus, const char *packet) {
    const bool was_running = bus->running;
    TRY(link_ready(&bus->rsp.link));
    if (was_running) TRY(halt_running(bus));
    TRY(rsp_ask(&bus->rsp, packet));
    return was_running ? rsp_send(&bus->rsp, "c") : NTR_OK; /* the answer stays in `packet` */
}

static ntr_status ask_bytes(gdb_bus *bus, uint64_t address, uint8_t *out, size_t size) {
    char packet[64];
    snprintf(packet, sizeof packet, "m%" PRIx64 ",%zx", address, size);
    if (ask_memory(bus, packet) != NTR_OK) return fail_link(bus);
    if (bus->rsp.size == 2 * size && parse_hex(bus->rsp.packet, out, size)) return NTR_OK;
    return fail_packet(bus, "read", address);
}

static ntr_status read32(void *user, uint64_t address, uint32_t *value) {
    gdb_bus *bus = user;
    uint8_t bytes[BUS_WORD];
    if (bus->is_openocd) return tcl_read32(&bus->client, address, value);
    TRY(ask_bytes(bus, address, bytes, sizeof bytes));
    *value = ntr_little_32(bytes);
    return NTR_OK;
}

static ntr_status write32(void *user, uint64_t address, uint32_t value) {
    gdb_bus *bus = user;
    char packet[64];
    if (bus->is_openocd) return tcl_write32(&bus->client, address, value);
    snprintf(packet, sizeof packet, "M%" PRIx64 ",4:%02x%02x%02x%02x", address, value & 255, value >> 8 & 255,
             value >> 16 & 255, value >> 24);
    if (ask_memory(bus, packet) != NTR_OK) return fail_link(bus);
    return strcmp(bus->rsp.packet, "OK") == 0 ? NTR_OK : fail_packet(bus, "write", address);
}

static ntr_status read_fifo(void *user, uint64_t address, uint32_t *words, size_t count) {
    gdb_bus *bus = user;
    if (bus->is_openocd) return tcl_read_fifo(&bus->client, address, words, count);
    for (size_t i = 0; i < count; i++) TRY(read32(user, address, &words[i]));
    return NTR_OK;
}

static ntr_status read_memory(void *user, uint64_t address, uint8_t *out, size_t bytes) {
    gdb_bus *bus = user;
    if (bus->is_openocd) return tcl_read_memory(&bus->client, address, out, bytes);
    for (size_t at = 0; at < bytes; at += bus->part)
        TRY(ask_bytes(bus, address + at, out + at, bytes - at < bus->part ? bytes - at : bus->part));
    return NTR_OK;
}

/* ---- the hart */

/* Takes a few packets, if there are some: a server may never stop sending console output. */
static ntr_status take_stop(gdb_bus *bus) {
    for (unsigned i = 0; i < STOP_PACKETS && bus->running && rsp_comes(&bus->rsp, 0); i++) {
        if (rsp_receive(&bus->rsp) != NTR_OK) return fail_link(bus);
        bus->running = bus->rsp.packet[0] != 'T' && bus->rsp.packet[0] != 'S' && bus->rsp.packet[0] != 'W';
    }
    return NTR_OK;
}

static ntr_status hart(void *user, ntr_bus_hart what, bool *halted) {
    gdb_bus *bus = user;
    if (bus->is_openocd) return tcl_hart(&bus->client, what, halted);
    if (link_ready(&bus->rsp.link) != NTR_OK) return fail_link(bus);
    TRY(take_stop(bus));
    switch (what) {
    case NTR_BUS_HART_STATE: *halted = !bus->running; return NTR_OK;
    case NTR_BUS_HART_HALT:
        if (bus->running && halt_running(bus) != NTR_OK) return fail_link(bus);
        bus->running = false;
        return NTR_OK;
    default:
        if (!bus->running && rsp_send(&bus->rsp, "c") != NTR_OK) return fail_link(bus);
        bus->running = true;
        return NTR_OK;
    }
}

/* ---- */

/* The answer to a read of memory has two digits for a byte, and "$#00" around them. */
static size_t part_of(const char *supported) {
    static const char name[] = "PacketSize=";
    const char *at = strstr(supported, name);
    const unsigned long packet = at ? strtoul(at + strlen(name), NULL, 16) : PACKET_USUAL;
    const size_t part = packet > FRAME_BYTES ? (packet - FRAME_BYTES) / 2 : 0;
    return part < BUS_WORD ? BUS_WORD : part < MEMORY_PART ? part & ~(size_t)(BUS_WORD - 1) : MEMORY_PART;
}

/* What a server is told after each connection. */
static ntr_status greet(void *user) {
    gdb_bus *bus = user;
    bus->rsp.no_ack = bus->running = false;
    TRY(rsp_ask(&bus->rsp, "qSupported:swbreak+;hwbreak+"));
    bus->part = part_of(bus->rsp.packet);
    const bool offers = strstr(bus->rsp.packet, "QStartNoAckMode+") != NULL;
    if (offers) {
        TRY(rsp_ask(&bus->rsp, "QStartNoAckMode"));
        bus->rsp.no_ack = strcmp(bus->rsp.packet, "OK") == 0;
        if (bus->rsp.no_ack) TRY(link_send(&bus->rsp.link, "+", 1));
    }
    TRY(rsp_send(&bus->rsp, "?")); /* answered by a stop reply */
    do TRY(rsp_receive(&bus->rsp));
    while (bus->rsp.packet[0] == 'O');
    TRY(rsp_ask(&bus->rsp, "qqemu.PhyMemMode"));
    bus->is_qemu = bus->rsp.packet[0] == '0' || bus->rsp.packet[0] == '1';
    return bus->is_qemu ? rsp_ask(&bus->rsp, "Qqemu.PhyMemMode:1") : NTR_OK;
}

static const char *error(void *user) {
    const gdb_bus *bus = user;
    return bus->is_openocd ? bus->client.error : bus->error;
}

static void close_bus(void *user) {
    gdb_bus *bus = user;
    bool halted;
    if (bus->rsp.link.fd >= 0 && bus->is_qemu && hart(bus, NTR_BUS_HART_HALT, &halted) == NTR_OK)
        rsp_ask(&bus->rsp, "Qqemu.PhyMemMode:0");
    if (bus->rsp.link.fd >= 0) rsp_ask(&bus->rsp, "D");
    link_close(&bus->rsp.link);
    ntr_dealloc(bus->allocator, bus);
}

/* Uses OpenOCD's commands when the server is OpenOCD. A connection that breaks here does not say which server it is. */
static ntr_status find_openocd(gdb_bus *bus) {
    if (bus->is_qemu) return NTR_OK;
    bus->is_openocd = tcl_prepare(&bus->client) == NTR_OK;
    bus->client.error[0] = 0;
    return bus->rsp.link.fd >= 0 ? NTR_OK : NTR_E_IO;
}

ntr_status bus_gdb_open(ntr_bus *out, const ntr_bus_options *options) {
    gdb_bus *bus = ntr_alloc(options->allocator, 1, sizeof *bus);
    if (!bus) return NTR_E_MEMORY;
    bus->allocator = options->allocator;
    bus->client.run = run;
    bus->client.user = bus;
    bus->client.direct = options->direct;
    bus->rsp.link.greet = greet;
    bus->rsp.link.user = bus;
    bus->rsp.link.interrupted = options->interrupted;
    bus->rsp.link.interrupted_user = options->user;
    ntr_status status = link_open(&bus->rsp.link, options->place, false, options->timeout_ms);
    if (status == NTR_OK) status = find_openocd(bus);
    if (status != NTR_OK) {
        if (options->error) snprintf(options->error, options->error_size, "%s", bus->rsp.link.error);
        link_close(&bus->rsp.link);
        close_bus(bus);
        return status;
    }
    *out = (ntr_bus){.size = sizeof *out,
                     .user = bus,
                     .read32 = read32,
                     .write32 = write32,
                     .read_fifo = read_fifo,
                     .read_memory = read_memory,
                     .hart = hart,
                     .error = error,
                     .close = close_bus,
                     .hides_errors = !bus->is_openocd && !bus->is_qemu,
                     .advice = bus->is_openocd ? "Is system bus access there (riscv set_mem_access sysbus)?"
                                               : "Does the server allow physical accesses there?"};
    return NTR_OK;
}
