/* A target whose bus is a model that can be broken: two encoders, a funnel and a RAM sink. */
#ifndef TEST_TARGET_RIG_H
#define TEST_TARGET_RIG_H

#include "../test.h"

#include <ntrace/ingress_block.h>
#include <ntrace/target.h>

#include <stdio.h>
#include <string.h>

enum {
    TE0 = 0x10000000,
    TE1 = 0x10001000,
    FUNNEL_BASE = 0x10010000,
    RAM = 0x10020000,
    RIG_NOTES = 4096,
    RIG_PAGE = 0x1000
};

static const char rig_topology[] =
    "{\"components\": ["
    "{\"name\": \"te0\", \"type\": \"encoder\", \"base\": \"0x10000000\", \"hart\": 0, \"to\": \"f\"},"
    "{\"name\": \"te1\", \"type\": \"encoder\", \"base\": \"0x10001000\", \"hart\": 1, \"to\": \"f\"},"
    "{\"name\": \"f\", \"type\": \"funnel\", \"base\": \"0x10010000\", \"to\": \"ram\"},"
    "{\"name\": \"ram\", \"type\": \"ram\", \"base\": \"0x10020000\", \"sram\": 4096}]}";

/* What is wrong with the component at `base`. */
typedef struct defect {
    uint64_t base;
    bool dead;            /* accesses fail */
    bool open;            /* reads all ones, also as zeros with `zero` */
    bool zero;
    uint32_t read_and[2], read_or[2]; /* offsets 0 and 4; `read_and` 0: no change */
    bool deaf;            /* only Control bit 0 can be written */
} defect;

typedef struct target_rig {
    ntr_system *model;
    ntr_bus inner;
    ntr_target *target;
    defect defect;
    bool hides, any_version;
    unsigned accesses, fail_at; /* the access with this number fails; 0: none */
    unsigned asked, interrupt_at;
    struct rig_access {
        uint64_t address;
        uint32_t value;
        bool wrote;
    } *log; /* accesses so far; NULL: not kept */
    size_t logged, log_size;
    char notes[RIG_NOTES];
} target_rig;

static inline bool rig_broken(target_rig *r, uint64_t address) {
    r->accesses++;
    return r->accesses == r->fail_at || (r->defect.dead && address - r->defect.base < RIG_PAGE);
}

static inline void rig_log(target_rig *r, uint64_t address, uint32_t value, bool wrote) {
    if (!r->log) return;
    assert_true(r->logged < r->log_size);
    r->log[r->logged++] = (struct rig_access){address, value, wrote};
}

static inline ntr_status rig_read(void *user, uint64_t address, uint32_t *value) {
    target_rig *r = user;
    const uint64_t offset = address - r->defect.base;
    *value = 0;
    if (rig_broken(r, address)) return NTR_E_IO;
    ntr_system_step(r->model, 20); /* an access takes time */
    const ntr_status status = r->inner.read32(r->inner.user, address, value);
    if (offset >= RIG_PAGE || !r->defect.base) {
        rig_log(r, address, *value, false);
        return status;
    }
    if (r->defect.open) *value = UINT32_MAX;
    if (r->defect.zero) *value = 0;
    if (offset > 4) return status;
    if (r->defect.read_and[offset / 4]) *value &= r->defect.read_and[offset / 4];
    *value |= r->defect.read_or[offset / 4];
    return status;
}

static inline ntr_status rig_write(void *user, uint64_t address, uint32_t value) {
    target_rig *r = user;
    if (rig_broken(r, address)) return NTR_E_IO;
    if (r->defect.deaf && address - r->defect.base < RIG_PAGE) {
        if (address != r->defect.base) return NTR_OK;
        value &= 1;
    }
    ntr_system_step(r->model, 20); /* an access takes time */
    rig_log(r, address, value, true);
    return r->inner.write32(r->inner.user, address, value);
}

static inline const char *rig_error(void *user) {
    (void)user;
    return "sysbus=failed";
}

static inline bool rig_interrupted(void *user) {
    target_rig *r = user;
    return ++r->asked >= r->interrupt_at && r->interrupt_at;
}

static inline void rig_note(void *user, const char *sentence) {
    target_rig *r = user;
    const size_t used = strlen(r->notes);
    snprintf(r->notes + used, sizeof r->notes - used, "%s\n", sentence);
}

static inline ntr_system *rig_model(const char *topology) {
    ntr_system_config config;
    ntr_system_config_init(&config);
    config.topology = (ntr_bytes){(const uint8_t *)topology, strlen(topology)};
    ntr_system *model;
    ntr_system_new(&config, &model);
    assert_non_null(model);
    return model;
}

/* `described`: the topology that the target is given; `real`: that of the model behind the bus. */
static inline void rig_open(target_rig *r, const char *described, const char *real) {
    ntr_target_config config;
    char error[200] = "";
    r->model = rig_model(real);
    ntr_system_bus(r->model, &r->inner);
    ntr_target_config_init(&config);
    config.topology = (ntr_bytes){(const uint8_t *)described, strlen(described)};
    config.bus = (ntr_bus){.size = sizeof config.bus,
                           .user = r,
                           .read32 = rig_read,
                           .write32 = rig_write,
                           .error = rig_error,
                           .hides_errors = r->hides,
                           .advice = "Is system bus access there?"};
    config.timeout_ms = 5;
    config.any_version = r->any_version;
    config.interrupted = rig_interrupted;
    config.note = rig_note;
    config.user = r;
    config.error = error;
    config.error_size = sizeof error;
    ntr_target_new(&config, &r->target);
    if (!r->target) fail_msg("%s", error);
}

static inline void rig_close(target_rig *r) {
    ntr_target_free(r->target);
    ntr_system_free(r->model);
}

static inline uint32_t rig_control(target_rig *r, uint64_t base) {
    uint32_t word = 0;
    assert_int_equal(r->inner.read32(r->inner.user, base, &word), NTR_OK);
    return word;
}

/* No component of the model is enabled. */
static inline void rig_all_disabled(target_rig *r, const char *when) {
    static const uint64_t bases[] = {TE0, TE1, FUNNEL_BASE, RAM};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        if (rig_control(r, bases[i]) & 2)
            fail_msg("%s: the component at 0x%llx is enabled", when, (unsigned long long)bases[i]);
}

/* Executes a loop on both harts. */
static inline void rig_execute(target_rig *r, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        for (unsigned hart = 0; hart < 2; hart++) {
            const ntr_ingress jump = {.iaddr = 0x80000000 + 0x100 * (i % 7),
                                      .iretire = 4,
                                      .ilastsize = 1,
                                      .cycle = true,
                                      .itype = NTR_ITYPE_OTHER_INDIRECT,
                                      .priv = NTR_PRIV_M};
            while (ntr_system_push(r->model, hart, &jump) == NTR_NEED_MORE) ntr_system_step(r->model, 1);
        }
}

static inline ntr_status rig_count(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    (void)id, (void)bytes;
    *(size_t *)user += size;
    return NTR_OK;
}

#endif
