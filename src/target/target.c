#include "target/target.h"

#include "base/allocator.h"
#include "base/config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REGISTER_TIMEOUT_MS = 1000, NANOSECONDS = 1000000000, NANOSECONDS_IN_MS = 1000000 };

/* ---- waiting */

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

static bool wait(void *user, unsigned polls) {
    ntr_target *target = user;
    const struct timespec pause = {0, NANOSECONDS_IN_MS};
    if (polls == 1) target->waiting_since = now();
    if (target->on.interrupted && target->on.interrupted(user)) return false;
    if (now() - target->waiting_since > (uint64_t)target->config.timeout_ms * NANOSECONDS_IN_MS) return false;
    nanosleep(&pause, NULL);
    return true;
}

static bool interrupted(void *user) {
    const ntr_target *target = user;
    return target->config.interrupted && target->config.interrupted(target->config.user);
}

/* ---- life */

static ntr_status describe(const ntr_target_config *config, ntr_system **out) {
    ntr_system_config description;
    ntr_system_config_init(&description);
    description.topology = config->topology;
    description.allocator = config->allocator;
    description.error = config->error;
    description.error_size = config->error_size;
    return ntr_system_new(&description, out);
}

static ntr_status restrict_system(ntr_target *target) {
    const ntr_target_config *config = &target->config;
    unsigned missing = 0;
    target->system->claim = config->self_hosted ? 0 : CLAIM_EXTERNAL;
    const ntr_status status =
        system_restrict(target->system, config->harts, config->hart_count, config->sink, &missing);
    if (status == NTR_E_RANGE && config->error)
        snprintf(config->error, config->error_size, "no encoder traces hart %u", missing);
    if (status == NTR_E_NAME && config->error)
        snprintf(config->error, config->error_size, "no component has the name '%.60s'", config->sink);
    return status;
}

ntr_status ntr_target_new(const ntr_target_config *given, ntr_target **out) {
    *out = NULL;
    ntr_target_config config;
    ntr_status status = ntr_config_load(&config, sizeof config, given);
    if (status == NTR_OK && (!config.bus.read32 || !config.bus.write32)) status = NTR_E_INVALID;
    if (status != NTR_OK) return status;
    if (!config.timeout_ms) config.timeout_ms = REGISTER_TIMEOUT_MS;
    ntr_target *target = ntr_alloc(config.allocator, 1, sizeof *target);
    if (!target) return NTR_E_MEMORY;
    target->config = config;
    target->bus = config.bus;
    target->on = (bring_up_bus){.bus = &target->bus,
                                .wait = wait,
                                .interrupted = interrupted,
                                .user = target,
                                .any_version = config.any_version};
    status = describe(&config, &target->system);
    if (status == NTR_OK) status = restrict_system(target);
    if (status == NTR_OK)
        *out = target;
    else
        ntr_target_free(target);
    return status;
}

void ntr_target_free(ntr_target *target) {
    if (!target) return;
    ntr_system_free(target->system);
    ntr_dealloc(target->config.allocator, target->saved);
    ntr_dealloc(target->config.allocator, target);
}

const ntr_system *ntr_target_components(const ntr_target *target) {
    return target->system;
}

const char *ntr_target_error(const ntr_target *target) {
    return target->error;
}

/* ---- sentences */

static void put_sentence(char *out, size_t size, const trace_component *component, const char *format,
                         va_list arguments) {
    const int length = snprintf(out, size, "%s at 0x%" PRIx64 ": ", component->name, component->base);
    if (length > 0 && (size_t)length < size) vsnprintf(out + length, size - (size_t)length, format, arguments);
}

ntr_status target_say(ntr_target *target, ntr_status status, const trace_component *component, const char *format,
                      ...) {
    va_list arguments;
    va_start(arguments, format);
    put_sentence(target->error, sizeof target->error, component, format, arguments);
    va_end(arguments);
    return status;
}

void target_note(ntr_target *target, const trace_component *component, const char *format, ...) {
    char sentence[SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    put_sentence(sentence, sizeof sentence, component, format, arguments);
    va_end(arguments);
    if (target->config.note) target->config.note(target->config.user, sentence);
}

ntr_status target_fail(ntr_target *target, ntr_status status) {
    target->error[0] = 0;
    if (status == NTR_END)
        snprintf(target->error, sizeof target->error, "interrupted");
    else if (status == NTR_E_IO || status == NTR_E_STATE)
        target_explain(target, target->error, sizeof target->error);
    else
        snprintf(target->error, sizeof target->error, "%s", ntr_status_text(status));
    return status;
}

/* ---- registers */

ntr_status ntr_target_params(ntr_target *target, unsigned hart, ntr_params *params) {
    trace_component *encoder = hart < HARTS_MAX ? target->system->of_hart[hart] : NULL;
    if (!encoder) return NTR_E_RANGE;
    const ntr_status status = bring_up_params(&target->on, encoder, params);
    return status == NTR_OK ? NTR_OK : target_fail(target, status);
}

ntr_status ntr_target_register(ntr_target *target, size_t component, ntr_register reg, unsigned number,
                               uint32_t *word) {
    trace_component *one = target_component(target, component);
    const ntr_register_info *info = ntr_register_get(reg);
    if (!one || !info || number >= info->count) return NTR_E_RANGE;
    const ntr_status status = bring_up_read(&target->on, one, reg, number, word);
    return status == NTR_OK ? NTR_OK : target_fail(target, status);
}
