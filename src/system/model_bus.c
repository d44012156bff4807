/* The procedures of a debugger on the model itself. */
#include "system/bring_up.h"

#include "base/bytes.h"
#include "base/macros.h"

#include <inttypes.h>
#include <stdio.h>

/* Cycles in which no component passes anything on (more where one message takes longer), and cycles of one wait. */
enum { POLLS_IDLE = 1 << 17, POLLS_MOST = 1 << 27 };

static ntr_status read32(void *user, uint64_t address, uint32_t *value) {
    return ntr_system_read32(user, address, value);
}

/* Where no component is, there may be system memory: the table of pages of an ETR. */
static ntr_status write32(void *user, uint64_t address, uint32_t value) {
    const ntr_system_config *config = &((ntr_system *)user)->config;
    uint8_t bytes[sizeof value];
    const ntr_status status = ntr_system_write32(user, address, value);
    if (status != NTR_E_RANGE || !config->memory_write) return status;
    ntr_little_put(bytes, value, sizeof bytes);
    return config->memory_write(config->user, address, bytes, sizeof bytes) ? NTR_OK : NTR_E_IO;
}

static ntr_status read_memory(void *user, uint64_t address, uint8_t *out, size_t bytes) {
    const ntr_system_config *config = &((ntr_system *)user)->config;
    return config->memory_read && config->memory_read(config->user, address, out, bytes) ? NTR_OK : NTR_E_IO;
}

void ntr_system_bus(ntr_system *system, ntr_bus *bus) {
    *bus = (ntr_bus){
        .size = sizeof *bus, .user = system, .read32 = read32, .write32 = write32, .read_memory = read_memory};
}

static uint64_t bytes_passed(const ntr_system *system) {
    uint64_t sum = 0;
    for (size_t i = 0; i < system->count; i++) sum += system->components[i]->counts.bytes;
    return sum;
}

/* Cycles that the slowest component needs for the longest message. */
static uint64_t slowest_message(const ntr_system *system) {
    uint64_t cycles = 0;
    for (size_t i = 0; i < system->count; i++) {
        const option_values *options = &system->components[i]->options;
        const uint64_t rate = OPTION(options, RATE), each = OPTION(options, RATE_CYCLES);
        if (rate && QUEUE_MESSAGE_MAX * each / rate > cycles) cycles = QUEUE_MESSAGE_MAX * each / rate;
    }
    return cycles;
}

/* Time advances while a debugger waits: as long as a slow component still empties a buffer. */
static bool wait(void *user, unsigned polls) {
    ntr_system *system = user;
    ntr_system_step(system, 1);
    const uint64_t passed = bytes_passed(system);
    if (polls == 1 || passed != system->passed) system->passed_at = polls;
    system->passed = passed;
    const unsigned idle = polls - system->passed_at;
    return polls < POLLS_MOST && (idle < POLLS_IDLE || idle < slowest_message(system));
}

static bring_up_bus on_model(ntr_system *system, ntr_bus *bus) {
    ntr_system_bus(system, bus);
    return (bring_up_bus){.bus = bus, .wait = wait, .user = system};
}

/* ---- errors */

static const char *what_failed(const bring_up_step *step) {
    const common_bits *bits = component_bits(step->component->ops->kind);
    if (is_coresight(step->component)) return ntr_bits_get(step->bits)->name;
    if (step->bits == bits->active) return step->value ? "does not become active" : "does not reset";
    if (step->bits == bits->enable) return step->value ? "cannot be enabled" : "cannot be disabled";
    if (step->bits == bits->empty) return "does not become empty";
    if (step->bits == NTR_BITS_TE_PROTOCOL_MAJOR) return "does not make N-Trace 1.x";
    return "is not of version 1";
}

static ntr_status report(ntr_system *system, const bring_up_fault *fault, ntr_status status) {
    const bring_up_step *step = &fault->step;
    if (status != NTR_E_STATE || !step->component) return status;
    if (step->kind == STEP_SET)
        snprintf(system->error, sizeof system->error, "%s: %s rejects the value %" PRIu32, step->component->name,
                 ntr_bits_get(step->bits)->name, step->value);
    else
        snprintf(system->error, sizeof system->error, "%s: %s", step->component->name, what_failed(step));
    return status;
}

/* ---- */

ntr_status ntr_system_start(ntr_system *system) {
    ntr_bus bus;
    bring_up_bus on = on_model(system, &bus);
    const bring_up_executor executor = {bring_up_take, &on};
    system->error[0] = 0;
    return report(system, &on.fault, bring_up_start(system, &executor));
}

/* Disables senders before their receivers. A component that does not become empty does not stop the procedure. */
ntr_status ntr_system_stop(ntr_system *system) {
    ntr_bus bus;
    bring_up_bus on = on_model(system, &bus);
    ntr_status status = NTR_OK;
    system->error[0] = 0;
    for (size_t i = system->count; i-- > 0;) {
        const ntr_status one = bring_up_disable(&on, system->downstream[i]);
        if (status == NTR_OK) status = report(system, &on.fault, one);
    }
    return status;
}

ntr_status ntr_system_params(ntr_system *system, unsigned hart, ntr_params *params) {
    ntr_bus bus;
    bring_up_bus on = on_model(system, &bus);
    trace_component *encoder = hart < HARTS_MAX ? system->of_hart[hart] : NULL;
    return encoder ? bring_up_params(&on, encoder, params) : NTR_E_RANGE;
}

ntr_status ntr_system_read_ram(ntr_system *system, size_t index, ntr_stream_sink sink, void *user, bool *cut) {
    ntr_bus bus;
    bring_up_bus on = on_model(system, &bus);
    if (index >= system->count) return NTR_E_INVALID;
    if (tmc_is_sink(system->components[index])) {
        tmc_content content;
        if (cut) *cut = false; /* whole messages */
        return bring_up_read_tmc(&on, system->components[index], sink, user, &content);
    }
    if (system->components[index]->ops->kind != NTR_COMPONENT_RAM) return NTR_E_INVALID;
    return bring_up_read_ram(&on, system->components[index], sink, user, cut, NULL);
}
