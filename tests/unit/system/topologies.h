/* Topologies of the system tests. */
#ifndef TEST_TOPOLOGIES_H
#define TEST_TOPOLOGIES_H

#include <ntrace/system.h>

#include <stdio.h>
#include <string.h>

/* A system from JSON text; fails the test with the reason when it is refused. */
static inline ntr_system *new_system(const char *json, ntr_system_config *config) {
    char error[256];
    ntr_status status;
    config->size = sizeof *config;
    config->topology = (ntr_bytes){(const uint8_t *)json, strlen(json)};
    config->error = error;
    config->error_size = sizeof error;
    ntr_system *system;
    status = ntr_system_new(config, &system);
    if (!system) fail_msg("%s: %s", ntr_status_name(status), error);
    config->error = NULL;
    return system;
}

static inline uint32_t read32(ntr_system *system, uint64_t address) {
    uint32_t word;
    assert_int_equal(ntr_system_read32(system, address, &word), NTR_OK);
    return word;
}

static inline void write32(ntr_system *system, uint64_t address, uint32_t word) {
    assert_int_equal(ntr_system_write32(system, address, word), NTR_OK);
}

#endif
