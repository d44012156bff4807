/* A helper program: a line "r ADDRESS" or "w ADDRESS VALUE" to its standard input; a line with the value, "ok" or
 * "error TEXT" from its standard output. Numbers are hexadecimal with 0x, or decimal. */
#include "target/buses.h"

#include "base/allocator.h"
#include "base/text.h"
#include "base/macros.h"
#include "target/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_LINE = 256 };

typedef struct exec_bus {
    const ntr_allocator *allocator;
    byte_link link;
    char line[ANSWER_LINE];
} exec_bus;

static ntr_status exchange(exec_bus *bus, const char *request) {
    size_t used = 0;
    char byte;
    TRY(link_ready(&bus->link));
    link_begin(&bus->link);
    TRY(link_send(&bus->link, request, strlen(request)));
    for (;;) {
        TRY(link_take(&bus->link, &byte));
        if (byte == '\n') break;
        if (used + 1 == ANSWER_LINE)
            return link_break(&bus->link, "the helper's line is longer than %d characters", ANSWER_LINE);
        if (byte != '\r') bus->line[used++] = byte ? byte : ' ';
    }
    bus->line[used] = 0;
    if (strncmp(bus->line, "error", 5) != 0) return NTR_OK;
    snprintf(bus->link.error, sizeof bus->link.error, "%.180s", bus->line[5] ? bus->line + 6 : "error");
    return NTR_E_IO;
}

static ntr_status read32(void *user, uint64_t address, uint32_t *value) {
    exec_bus *bus = user;
    char request[64];
    uint64_t number;
    snprintf(request, sizeof request, "r 0x%" PRIx64 "\n", address);
    TRY(exchange(bus, request));
    const char *end = bus->line + strlen(bus->line);
    if (ntr_read_number(bus->line, end, &number) != end || number > UINT32_MAX)
        return link_break(&bus->link, "expected a 32-bit number from the helper, found '%.80s'", bus->line);
    *value = (uint32_t)number;
    return NTR_OK;
}

static ntr_status write32(void *user, uint64_t address, uint32_t value) {
    char request[64];
    snprintf(request, sizeof request, "w 0x%" PRIx64 " 0x%" PRIx32 "\n", address, value);
    return exchange(user, request);
}

static const char *error(void *user) {
    return ((exec_bus *)user)->link.error;
}

static void close_bus(void *user) {
    exec_bus *bus = user;
    link_close(&bus->link);
    ntr_dealloc(bus->allocator, bus);
}

ntr_status bus_exec_open(ntr_bus *out, const ntr_bus_options *options) {
    exec_bus *bus = ntr_alloc(options->allocator, 1, sizeof *bus);
    if (!bus) return NTR_E_MEMORY;
    bus->allocator = options->allocator;
    bus->link.interrupted = options->interrupted;
    bus->link.interrupted_user = options->user;
    const ntr_status status = link_open(&bus->link, options->place, true, options->timeout_ms);
    if (status != NTR_OK) {
        if (options->error) snprintf(options->error, options->error_size, "%s", bus->link.error);
        close_bus(bus);
        return status;
    }
    *out = (ntr_bus){
        .size = sizeof *out, .user = bus, .read32 = read32, .write32 = write32, .error = error, .close = close_bus};
    return NTR_OK;
}
