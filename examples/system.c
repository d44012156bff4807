/* Adds trace hardware to a simulator: software writes its registers, the simulated hart reports what it retires, and
 * the trace is read back from the RAM sink.
 *
 *     system
 *
 * Prints the bytes of the trace. */
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
    ntr_system_config config;
    ntr_system_config_init(&config);
    config.topology = (ntr_bytes){(const uint8_t *)topology, sizeof topology - 1};
    config.error = error;
    config.error_size = sizeof error;
    ntr_system *system;
    ntr_system_new(&config, &system);
    if (!system) return fprintf(stderr, "%s\n", error), 1;
    ntr_system_start(system); /* or the simulated software does it: ntr_system_write32(system, 0x10000000, ...) */

    /* Four instructions from 0x80000000 on; the last one is a branch back to the first. It is taken three times. */
    ntr_ingress loop = {
        .iaddr = 0x80000000, .iretire = 8, .ilastsize = 1, .itype = NTR_ITYPE_TAKEN, .priv = NTR_PRIV_M, .cycle = true};
    for (unsigned i = 0; i < 3; i++) {
        ntr_system_set_time(system, 10 * i); /* the clock of external timestamps (trTsMode 1) */
        while (ntr_system_push(system, 0, &loop) == NTR_NEED_MORE) ntr_system_step(system, 1); /* the hart is stalled */
        ntr_system_step(system, 1);
    }
    ntr_system_trigger(system, 0, 1); /* external trigger input 1 of the encoder: no effect until software enables it */

    ntr_system_stop(system);
    ntr_system_read_ram(system, 1, print_bytes, NULL, NULL);
    ntr_system_free(system);
    return 0;
}
