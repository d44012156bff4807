/* Topologies: any JSON makes a system or a reason; a system can be started, traced with and stopped. */
#include "fuzz.h"

#include <ntrace/system.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[128] = "";
    ntr_status status = NTR_OK;
    const ntr_system_config config = {
        .size = sizeof config, .topology = {data, size}, .error = error, .error_size = sizeof error};
    ntr_system *system;
    status = ntr_system_new(&config, &system);
    if (!system) {
        fuzz_must(status < 0 && memchr(error, 0, sizeof error) && (error[0] || status == NTR_E_MEMORY),
                  "a refused topology has an error message");
        return 0;
    }
    ntr_ingress loop = {
        .iaddr = 0x80000000, .iretire = 8, .ilastsize = 1, .itype = NTR_ITYPE_TAKEN, .priv = NTR_PRIV_M, .cycle = true};
    ntr_system_component info;
    if (ntr_system_start(system) == NTR_OK) {
        for (unsigned i = 0; i < 200; i++) {
            if (ntr_system_push(system, i & 1, &loop) == NTR_NEED_MORE) ntr_system_step(system, 3);
            ntr_system_step(system, 1);
        }
        ntr_system_stop(system);
    }
    for (size_t i = 0; ntr_system_component_get(system, i, &info) == NTR_OK; i++)
        fuzz_must(info.kind < NTR_COMPONENT_COUNT && info.name, "components have names");
    ntr_system_free(system);
    return 0;
}
