/* Names of instruction sets: "rv32imac_zcmp1p0_xcvbi". */
#include <ntrace/isa.h>

#include <string.h>

/* Extensions whose instructions change the control flow, and are not in every RISC-V decoder; and those of vendors
 * whose other instructions are linear. */
enum { CUSTOM_ALL = NTR_ISA_CUSTOM_0 | NTR_ISA_CUSTOM_1 | NTR_ISA_CUSTOM_2 | NTR_ISA_CUSTOM_3 };
static const struct {
    const char *name; /* as in Tag_RISCV_arch and -march */
    unsigned isa;
    bool more; /* the names of its parts begin with it: xtheadba, xtheadbb */
} extensions[] = {
    {"zcmp", NTR_ISA_ZCMP, false},
    {"zcmt", NTR_ISA_ZCMT, false},
    {"zce", NTR_ISA_ZCMP | NTR_ISA_ZCMT, false},
    {"xqccmp", NTR_ISA_ZCMP, false}, /* other orders of the stack, the same returns */
    {"xqci", NTR_ISA_ZCMP, false},
    {"xqci", NTR_ISA_XQCIBI | NTR_ISA_XQCILB | NTR_ISA_XQCIINT | CUSTOM_ALL, true}, /* its parts do not overlap */
    {"xcvbi", NTR_ISA_XCVBI, false},
    {"xcvhwlp", NTR_ISA_XCVHWLP, false},
    {"xcv", CUSTOM_ALL, true},
    {"xesploop", NTR_ISA_XESPLOOP, false},
    {"xandesperf", NTR_ISA_XANDESPERF, false},
    {"xandescodense", NTR_ISA_XANDESCODENSE, false},
    {"xandes", NTR_ISA_XANDESPERF, false},
    {"xandes", NTR_ISA_CUSTOM_0 | NTR_ISA_CUSTOM_1 | NTR_ISA_CUSTOM_2, true},
    {"xnds", NTR_ISA_XANDESPERF | NTR_ISA_CUSTOM_0 | NTR_ISA_CUSTOM_1 | NTR_ISA_CUSTOM_2, true},
    {"xtheadint", NTR_ISA_XTHEADINT, false},
    {"xthead", NTR_ISA_CUSTOM_0, true},
    {"xventana", NTR_ISA_CUSTOM_3, true},
    {"xsfv", NTR_ISA_CUSTOM_2, true},
    {"xmips", NTR_ISA_CUSTOM_0, true},
    {"xrivos", NTR_ISA_CUSTOM_2, true},
    {"xsmtvdot", NTR_ISA_CUSTOM_1, true},
};

/* Takes one name and its version, "zcmp1p0". */
static unsigned extension_of(const char *name, size_t size) {
    unsigned isa = 0;
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        const size_t length = strlen(extensions[i].name);
        if (size < length || strncmp(name, extensions[i].name, length) != 0) continue;
        if (extensions[i].more || length == size || (name[length] >= '0' && name[length] <= '9'))
            isa |= extensions[i].isa;
    }
    return isa;
}

ntr_status ntr_isa_parse(const char *text, unsigned *isa) {
    if (strncmp(text, "rv32", 4) != 0 && strncmp(text, "rv64", 4) != 0) return NTR_E_NAME;
    *isa = text[2] == '3' ? NTR_ISA_RV32 : 0;
    for (const char *part = text + 4; *part;) {
        const size_t size = strcspn(part, "_,");
        *isa |= extension_of(part, size);
        part += size + (part[size] != 0);
    }
    return NTR_OK;
}
