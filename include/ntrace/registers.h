/* Registers: the register maps of RISC-V Trace Control 1.0, and of the CoreSight components that follow ATB bridges,
 * as tables, for drivers, the system model and documentation.
 * All tables are generated from registers.def.
 *
 * For a driver: NTR_TE_CONTROL is the offset of a register. NTR_TE_ENABLE_MASK is the mask of a field; with _OFFSET and
 * _SHIFT instead of _MASK, the offset of its register and the number of its lowest bit. */
#ifndef NTRACE_REGISTERS_H
#define NTRACE_REGISTERS_H

#include <ntrace/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Size of the address range of a component, and its alignment. */
#define NTR_COMPONENT_BYTES 0x1000u

/* Highest trXxCompType. Components of Arm CoreSight have a higher `type`. */
#define NTR_COMPONENT_TYPE_MAX 15

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

/* Offsets of registers in their component. For fields: mask, shift, and the offset of the register. */
enum {
#define NTR_REGISTER(component, id, name, offset, ...) NTR_##id = (offset),
#define NTR_BITS(...)
#include <ntrace/registers.def>
#undef NTR_REGISTER
#undef NTR_BITS
};
#define NTR_REGISTER(...)
#define NTR_BITS(reg, id, name, high, low, ...)                                                                        \
    static const uint32_t NTR_##id##_MASK = ((0xffffffffu >> (31 - (high) + (low))) << (low));                         \
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
    uint8_t type;       /* trXxCompType; 0: a unit that is part of other components; above 15: Arm CoreSight */
} ntr_component_info;

typedef struct ntr_register_info {
    const char *name;     /* % stands for the number of a repeated register */
    uint8_t component;    /* ntr_component */
    uint8_t compliance;   /* ntr_compliance */
    uint16_t offset;      /* offset of the first register */
    uint8_t count, stride;/* number of registers, and distance between them in bytes */
} ntr_register_info;

typedef struct ntr_bits_info {
    const char *name;
    const char *meaning;
    uint8_t reg;        /* ntr_register */
    uint8_t high, low;
    uint8_t access;     /* ntr_access */
    uint8_t compliance; /* ntr_compliance */
    int8_t reset;       /* reset value, or NTR_RESET_U or NTR_RESET_SD */
} ntr_bits_info;

typedef struct ntr_register_value_info {
    uint8_t bits; /* ntr_bits */
    uint8_t value;
    const char *meaning;
} ntr_register_value_info;

/* Return a row of a table, or NULL when the index is past the last row. */
NTR_API const ntr_component_info *ntr_component_get(size_t component);
NTR_API const ntr_register_info *ntr_register_get(size_t reg);
NTR_API const ntr_bits_info *ntr_bits_get(size_t bits);
NTR_API const ntr_register_value_info *ntr_register_value_get(size_t index);

/* Return "RW1C", "required", ..., or NULL when the value is not in the enum. Static storage. */
NTR_API const char *ntr_access_name(unsigned access);
NTR_API const char *ntr_compliance_name(unsigned compliance);

/* Returns the meaning of a value of a field, or NULL when the table has no text for it. */
NTR_API const char *ntr_bits_meaning(ntr_bits bits, uint32_t value);

static inline uint32_t ntr_bits_mask(const ntr_bits_info *bits) {
    return (0xffffffffu >> (31 - bits->high + bits->low)) << bits->low;
}

/* Returns the value of the field in the register value `word`. */
static inline uint32_t ntr_bits_value(const ntr_bits_info *bits, uint32_t word) {
    return (word & ntr_bits_mask(bits)) >> bits->low;
}

/* Returns the register with this name ("trTeControl", "trTeFilter_3_Control") and stores its number (3; otherwise 0) in
 * *number. Returns NTR_REGISTER_COUNT when there is none. Case-sensitive. */
NTR_API ntr_register ntr_register_find(const char *name, unsigned *number);

/* Returns the register at `offset` of a component, its timestamp unit or CoreSight management registers included, and
 * stores its number in *number. Returns NTR_REGISTER_COUNT when there is none. */
NTR_API ntr_register ntr_register_at(ntr_component component, uint32_t offset, unsigned *number);

/* Returns the field with this name, or NTR_BITS_COUNT when there is none. */
NTR_API ntr_bits ntr_bits_find(const char *name);

/* Writes the name of register `number` of a row to `out`. 48 bytes are enough for all names. Returns the length. */
NTR_API int ntr_register_name(ntr_register reg, unsigned number, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
