/* OpenOCD's Tcl port: a command and 0x1a, its result and 0x1a. */
#include "target/buses.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "target/link.h"
#include "target/tcl.h"

#include <stdio.h>
#include <string.h>

#define TCL_END '\x1a'

typedef struct openocd_bus {
    const ntr_allocator *allocator;
    byte_link link;
    tcl_client client;
} openocd_bus;

static ntr_status fail(openocd_bus *bus) {
    snprintf(bus->client.error, sizeof bus->client.error, "%s", bus->link.error);
    return NTR_E_IO;
}

static ntr_status exchange(openocd_bus *bus, const char *command, char *result) {
    const char end = TCL_END;
    size_t used = 0;
    char byte;
    link_begin(&bus->link);
    TRY(link_send(&bus->link, command, strlen(command)));
    TRY(link_send(&bus->link, &end, 1));
    for (;;) {
        TRY(link_take(&bus->link, &byte));
        if (byte == TCL_END) break;
        if (used + 1 == TCL_RESULT) return link_break(&bus->link, "an answer is longer than %d bytes", TCL_RESULT);
        result[used++] = byte ? byte : ' ';
    }
    result[used] = 0;
    return NTR_OK;
}

static ntr_status run(void *user, const char *command, char *result) {
    openocd_bus *bus = user;
    ntr_status status = link_ready(&bus->link);
    if (status == NTR_OK) status = exchange(bus, command, result);
    return status == NTR_OK ? NTR_OK : fail(bus);
}

static ntr_status read32(void *user, uint64_t address, uint32_t *value) {
    return tcl_read32(&((openocd_bus *)user)->client, address, value);
}

static ntr_status write32(void *user, uint64_t address, uint32_t value) {
    return tcl_write32(&((openocd_bus *)user)->client, address, value);
}

static ntr_status read_fifo(void *user, uint64_t address, uint32_t *words, size_t count) {
    return tcl_read_fifo(&((openocd_bus *)user)->client, address, words, count);
}

static ntr_status read_memory(void *user, uint64_t address, uint8_t *out, size_t bytes) {
    return tcl_read_memory(&((openocd_bus *)user)->client, address, out, bytes);
}

static ntr_status hart(void *user, ntr_bus_hart what, bool *halted) {
    return tcl_hart(&((openocd_bus *)user)->client, what, halted);
}

static const char *error(void *user) {
    return ((openocd_bus *)user)->client.error;
}

static void close_bus(void *user) {
    openocd_bus *bus = user;
    link_close(&bus->link);
    ntr_dealloc(bus->allocator, bus);
}

ntr_status bus_openocd_open(ntr_bus *out, const ntr_bus_options *options) {
    openocd_bus *bus = ntr_alloc(options->allocator, 1, sizeof *bus);
    if (!bus) return NTR_E_MEMORY;
    bus->allocator = options->allocator;
    bus->client.run = run;
    bus->client.user = bus;
    bus->client.direct = options->direct;
    bus->link.interrupted = options->interrupted;
    bus->link.interrupted_user = options->user;
    ntr_status status = link_open(&bus->link, options->place, false, options->timeout_ms);
    if (status != NTR_OK) fail(bus);
    if (status == NTR_OK) status = tcl_prepare(&bus->client);
    if (status != NTR_OK) {
        if (options->error) snprintf(options->error, options->error_size, "%s", bus->client.error);
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
                     .advice = "Is system bus access there (riscv set_mem_access sysbus)?"};
    return NTR_OK;
}
