/* A simulator with trace hardware in it: software sets the registers, the hart tells what it retires, and the trace is
 * read back from the RAM sink. */
#include <ntrace/system.h>

#include <stdio.h>

static const char topology[] =
    "{\"components\": ["
    "{\"name\": \"te\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"to\": \"ram\"},"
    "{\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10001000\", \"sram\": 4096}]}";

static ntr_status print_bytes(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)id;
    for (size_t i = 0; i < size; i++) printf("%02x%c", bytes[i], i + 1 == size ? '\n' : ' ');
    return NTR_OK;
}

int main(void) {
    char error[200];
    const ntr_system_config config = {.size = sizeof config, .topology = {(const uint8_t *)topology, sizeof topology - 1},
                                      .error = error, .error_size = sizeof error};
    ntr_system *system = ntr_system_new(&config, NULL);
    if (!system) return fprintf(stderr, "%s\n", error), 1;
    ntr_system_start(system); /* or the simulated software: ntr_system_write32(system, 0x10000000, ...) */

    /* four instructions from 0x80000000 on, the last one a taken branch back to the first; three times */
    ntr_ingress loop = {.iaddr = 0x80000000, .iretire = 8, .ilastsize = 1, .itype = NTR_ITYPE_TAKEN, .priv = NTR_PRIV_M, .cycle = true};
    for (int i = 0; i < 3; i++) {
        while (ntr_system_push(system, 0, &loop) == NTR_NEED_MORE) ntr_system_step(system, 1); /* the hart is stalled */
        ntr_system_step(system, 1);
    }

    ntr_system_stop(system);
    ntr_system_read_ram(system, 1, print_bytes, NULL, NULL);
    ntr_system_free(system);
    return 0;
}
