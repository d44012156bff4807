#include <ntrace/registers.h>

#include "base/macros.h"

#include <stdio.h>
#include <string.h>

/* The names of the reset column of registers.def. */
enum { U = NTR_RESET_U, SD = NTR_RESET_SD };

static const ntr_component_info components[] = {
#define NTR_COMPONENT(id, name, title, prefix, type) {name, title, prefix, type},
#define NTR_REGISTER(...)
#define NTR_BITS(...)
#define NTR_VALUE(...)
#include <ntrace/registers.def>
#undef NTR_COMPONENT
#undef NTR_REGISTER
};

static const ntr_register_info registers[] = {
#define NTR_COMPONENT(...)
#define NTR_REGISTER(component, id, name, offset, count, stride, compliance)                                           \
    {name, NTR_COMPONENT_##component, NTR_##compliance, offset, count, stride},
#include <ntrace/registers.def>
#undef NTR_REGISTER
#undef NTR_BITS
};

static const ntr_bits_info fields[] = {
#define NTR_REGISTER(...)
#define NTR_BITS(reg, id, name, high, low, access, reset, compliance, meaning)                                         \
    {name, meaning, NTR_REGISTER_##reg, high, low, NTR_ACCESS_##access, NTR_##compliance, reset},
#include <ntrace/registers.def>
#undef NTR_BITS
#undef NTR_VALUE
};

static const ntr_register_value_info values[] = {
#define NTR_BITS(...)
#define NTR_VALUE(bits, value, meaning) {NTR_BITS_##bits, value, meaning},
#include <ntrace/registers.def>
#undef NTR_COMPONENT
#undef NTR_REGISTER
#undef NTR_BITS
#undef NTR_VALUE
};

_Static_assert(NTR_COUNT(components) == NTR_COMPONENT_COUNT, "a row for each component");
_Static_assert(NTR_COUNT(registers) == NTR_REGISTER_COUNT, "a row for each register");
_Static_assert(NTR_COUNT(fields) == NTR_BITS_COUNT, "a row for each field");

static const char *const access_names[] = {"RO", "RW", "RW1C", "W1", "WARL"};
static const char *const compliance_names[] = {"required", "optional", "absent"};

const ntr_component_info *ntr_component_get(size_t component) {
    return component < NTR_COUNT(components) ? &components[component] : NULL;
}

const ntr_register_info *ntr_register_get(size_t reg) {
    return reg < NTR_COUNT(registers) ? &registers[reg] : NULL;
}

const ntr_bits_info *ntr_bits_get(size_t bits) {
    return bits < NTR_COUNT(fields) ? &fields[bits] : NULL;
}

const ntr_register_value_info *ntr_register_value_get(size_t index) {
    return index < NTR_COUNT(values) ? &values[index] : NULL;
}

const char *ntr_access_name(unsigned access) {
    return access < NTR_COUNT(access_names) ? access_names[access] : NULL;
}

const char *ntr_compliance_name(unsigned compliance) {
    return compliance < NTR_COUNT(compliance_names) ? compliance_names[compliance] : NULL;
}

const char *ntr_bits_meaning(ntr_bits bits, uint32_t value) {
    for (size_t i = 0; i < NTR_COUNT(values); i++)
        if (values[i].bits == bits && values[i].value == value) return values[i].meaning;
    return NULL;
}

int ntr_register_name(ntr_register reg, unsigned number, char *out, size_t capacity) {
    const char *name = registers[reg].name, *mark = strchr(name, '%');
    if (!mark) return snprintf(out, capacity, "%s", name);
    return snprintf(out, capacity, "%.*s%u%s", (int)(mark - name), name, number, mark + 1);
}

ntr_register ntr_register_find(const char *name, unsigned *number) {
    char made[48];
    for (unsigned reg = 0; reg < NTR_COUNT(registers); reg++)
        for (unsigned n = 0; n < registers[reg].count; n++) {
            ntr_register_name((ntr_register)reg, n, made, sizeof made);
            if (strcmp(made, name) != 0) continue;
            *number = n;
            return (ntr_register)reg;
        }
    return NTR_REGISTER_COUNT;
}

/* Returns whether the registers of the row's component appear in `component`. */
static int belongs(const ntr_register_info *row, ntr_component component) {
    if (row->component == component) return 1;
    if (row->component == NTR_COMPONENT_CORESIGHT) return components[component].type > NTR_COMPONENT_TYPE_MAX;
    return row->component == NTR_COMPONENT_TIMESTAMP &&
           (component == NTR_COMPONENT_ENCODER || component == NTR_COMPONENT_FUNNEL);
}

ntr_register ntr_register_at(ntr_component component, uint32_t offset, unsigned *number) {
    for (unsigned reg = 0; reg < NTR_COUNT(registers); reg++) {
        const ntr_register_info *row = &registers[reg];
        if (!belongs(row, component)) continue;
        for (unsigned n = 0; n < row->count; n++) {
            if (row->offset + n * row->stride != offset) continue;
            *number = n;
            return (ntr_register)reg;
        }
    }
    return NTR_REGISTER_COUNT;
}

ntr_bits ntr_bits_find(const char *name) {
    for (unsigned i = 0; i < NTR_COUNT(fields); i++)
        if (strcmp(fields[i].name, name) == 0) return (ntr_bits)i;
    return NTR_BITS_COUNT;
}
