#include "base/config.h"
#include "base/macros.h"
#include "base/text.h"
#include "target/buses.h"

#include <ntrace/target.h>

#include <string.h>

enum { ANSWER_TIMEOUT_MS = 5000 };

static const struct connection {
    const char *kind;
    ntr_status (*open)(ntr_bus *bus, const ntr_bus_options *options);
} connections[] = {
    {"openocd", bus_openocd_open},
    {"gdb", bus_gdb_open},
    {"mem", bus_mem_open},
    {"exec", bus_exec_open},
};

ntr_status ntr_bus_open(ntr_bus *bus, const ntr_bus_options *given) {
    ntr_bus_options options;
    const ntr_status status = ntr_config_load(&options, sizeof options, given);
    if (status != NTR_OK) return status;
    if (!options.kind || !options.place) return NTR_E_INVALID;
    if (!options.timeout_ms) options.timeout_ms = ANSWER_TIMEOUT_MS;
    if (options.error && options.error_size) options.error[0] = 0;
    for (size_t i = 0; i < NTR_COUNT(connections); i++)
        if (strcmp(connections[i].kind, options.kind) == 0) return connections[i].open(bus, &options);
    return NTR_E_NAME;
}
