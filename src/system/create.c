/* Creates a system from its topology. */
#include "base/allocator.h"
#include "base/config.h"
#include "system/topology.h"

/* Defines the fields that all component types have. */
static void common_rules(trace_component *component) {
    const common_bits *bits = component_bits(component->ops->kind);
    page_fix(&component->page, bits->major, 1);
    page_fix(&component->page, bits->type, ntr_component_get(component->ops->kind)->type);
    page_fix(&component->page, bits->vendor, (uint32_t)OPTION(&component->options, VENDOR));
}

static ntr_status start_components(ntr_system *system) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < system->count && status == NTR_OK; i++) {
        common_rules(system->components[i]);
        status = component_start(system->components[i]);
    }
    return status;
}

ntr_system *ntr_system_new(const ntr_system_config *given, ntr_status *status) {
    ntr_status ignored, *out = status ? status : &ignored;
    ntr_system_config config;
    *out = ntr_config_load(&config, sizeof config, given);
    if (*out == NTR_OK && !config.topology.data) *out = NTR_E_INVALID;
    if (*out != NTR_OK) return NULL;
    if (config.error && config.error_size) config.error[0] = 0;
    ntr_system *system = ntr_alloc(config.allocator, 1, sizeof *system);
    *out = NTR_E_MEMORY;
    if (!system) return NULL;
    system->config = config;
    *out = topology_read(system);
    if (*out == NTR_OK) *out = start_components(system);
    if (*out == NTR_OK) return system;
    ntr_system_free(system);
    return NULL;
}
