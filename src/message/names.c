#include <ntrace/message.h>

/* N-Trace 1.0 section 8. */
static const char *const syncs[16] = {
    [0] = "external trigger", [1] = "exit from reset",     [2] = "periodic",
    [3] = "exit from debug",  [4] = "instruction counter", [5] = "trace enable",
    [6] = "trace event",      [7] = "restart after loss",  [9] = "exit from power-down",
};

/* N-Trace 1.0 section 6.12. */
static const char *const stops[16] = {
    [0] = "entry into debug",
    [1] = "entry into low power",
    [4] = "trace disabled",
};

const char *ntr_sync_name(unsigned code) {
    return code < 16 && syncs[code] ? syncs[code] : code == 14 || code == 15 ? "vendor" : "reserved";
}

const char *ntr_evcode_name(unsigned code) {
    return code < 16 && stops[code] ? stops[code] : code >= 8 ? "vendor" : "reserved";
}
