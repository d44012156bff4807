/* Registers: the map of RISC-V Trace Control 1.0 as tables, for software that talks to trace hardware, for the
 * model and for people. Everything comes from registers.def.
 *
 * For a driver: NTR_TE_CONTROL is a register's offset; NTR_TE_ACTIVE_OFFSET, _MASK and _SHIFT are a field. */
#ifndef NTRACE_REGISTERS_H
#define NTRACE_REGISTERS_H

#include <ntrace/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A component takes so many bytes of the address space, at a multiple of it. */
#define NTR_COMPONENT_BYTES 0x1000u

typedef enum ntr_component {
#define NTR_COMPONENT(id, ...) NTR_COMPONENT_##id,
#define NTR_REGISTER(...)
#define NTR_BITS(...)
#define NTR_VALUE(...)
#include <ntrace/registers.def>
#undef NTR_COMPONENT
#undef NTR_REGISTER
    NTR_COMPONENT_COUNT,
} ntr_component;

typedef enum ntr_register {
#define NTR_COMPONENT(...)
#define NTR_REGISTER(component, id, ...) NTR_REGISTER_##id,
#include <ntrace/registers.def>
#undef NTR_REGISTER
#undef NTR_BITS
    NTR_REGISTER_COUNT,
} ntr_register;

typedef enum ntr_bits {
#define NTR_REGISTER(...)
#define NTR_BITS(reg, id, ...) NTR_BITS_##id,
#include <ntrace/registers.def>
#undef NTR_REGISTER
#undef NTR_BITS
    NTR_BITS_COUNT,
} ntr_bits;

/* Offsets of registers in their component; masks, shifts and offsets (of the register) of fields. */
enum {
#define NTR_REGISTER(component, id, name, offset, ...) NTR_##id = (offset),
#define NTR_BITS(...)
#include <ntrace/registers.def>
#undef NTR_REGISTER
#undef NTR_BITS
};
#define NTR_REGISTER(...)
#define NTR_BITS(reg, id, name, high, low, ...)                                                                        \
    static const uint32_t NTR_##id##_MASK = ((0xffffffffu >> (31 - (high) + (low))) << (low));                          \
    enum { NTR_##id##_SHIFT = (low), NTR_##id##_OFFSET = NTR_##reg };
#include <ntrace/registers.def>
#undef NTR_COMPONENT
#undef NTR_REGISTER
#undef NTR_BITS
#undef NTR_VALUE

typedef enum ntr_access { NTR_ACCESS_RO, NTR_ACCESS_RW, NTR_ACCESS_RW1C, NTR_ACCESS_W1, NTR_ACCESS_WARL } ntr_access;
typedef enum ntr_compliance { NTR_REQUIRED, NTR_OPTIONAL, NTR_ABSENT } ntr_compliance;

enum { NTR_RESET_U = -1, NTR_RESET_SD = -2 }; /* undefined, system dependent */

typedef struct ntr_component_info {
    const char *name;   /* "encoder" */
    const char *title;  /* "Trace Encoder" */
    const char *prefix; /* "trTe" */
    uint8_t type;       /* CompType; 0: part of other components */
} ntr_component_info;

typedef struct ntr_register_info {
    const char *name;     /* % stands for the number when there are several */
    uint8_t component;    /* ntr_component */
    uint8_t compliance;   /* ntr_compliance */
    uint16_t offset;      /* of the first */
    uint8_t count, stride;/* how many, and how far apart */
} ntr_register_info;

typedef struct ntr_bits_info {
    const char *name;
    const char *meaning;
    uint8_t reg;        /* ntr_register */
    uint8_t high, low;
    uint8_t access;     /* ntr_access */
    uint8_t compliance; /* ntr_compliance */
    int8_t reset;       /* or NTR_RESET_x */
} ntr_bits_info;

typedef struct ntr_register_value_info {
    uint8_t bits; /* ntr_bits */
    uint8_t value;
    const char *meaning;
} ntr_register_value_info;

/* Rows of the tables; NULL for an index past the last. */
NTR_API const ntr_component_info *ntr_component_get(size_t component);
NTR_API const ntr_register_info *ntr_register_get(size_t reg);
NTR_API const ntr_bits_info *ntr_bits_get(size_t bits);
NTR_API const ntr_register_value_info *ntr_register_value_get(size_t index);

/* "RW1C", "required", ... Static storage; NULL for a value that is none. */
NTR_API const char *ntr_access_name(unsigned access);
NTR_API const char *ntr_compliance_name(unsigned compliance);

/* What this value of a field means; NULL when no word is given to it. */
NTR_API const char *ntr_bits_meaning(ntr_bits bits, uint32_t value);

static inline uint32_t ntr_bits_mask(const ntr_bits_info *bits) {
    return (0xffffffffu >> (31 - bits->high + bits->low)) << bits->low;
}

/* The field's value in a register's. */
static inline uint32_t ntr_bits_value(const ntr_bits_info *bits, uint32_t word) {
    return (word & ntr_bits_mask(bits)) >> bits->low;
}

/* The register of this name ("trTeControl", "trTeFilter_3_Control"), `*number` = which of several.
 * NTR_REGISTER_COUNT when there is none. Case matters. */
NTR_API ntr_register ntr_register_find(const char *name, unsigned *number);

/* The register at `offset` of a component (its timestamp unit included), `*number` = which of several.
 * NTR_REGISTER_COUNT when there is none. */
NTR_API ntr_register ntr_register_at(ntr_component component, uint32_t offset, unsigned *number);

/* The field of this name; NTR_BITS_COUNT when there is none. */
NTR_API ntr_bits ntr_bits_find(const char *name);

/* Name of the register `number` of a row into `out` (48 bytes are enough for all). Returns the length. */
NTR_API int ntr_register_name(ntr_register reg, unsigned number, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
