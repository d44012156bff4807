/* Names of instruction sets: "rv32imac_zcmp1p0_xcvbi". */
#include <ntrace/isa.h>

#include <string.h>

/* Extensions whose instructions change the control flow, and are not in every RISC-V decoder. */
static const struct {
    const char *name; /* as in Tag_RISCV_arch and -march */
    unsigned isa;
} extensions[] = {
    {"zcmp", NTR_ISA_ZCMP},
    {"zcmt", NTR_ISA_ZCMT},
    {"zce", NTR_ISA_ZCMP | NTR_ISA_ZCMT},
    {"xqccmp", NTR_ISA_ZCMP}, /* other orders of the stack, the same returns */
    {"xqcibi", NTR_ISA_XQCIBI},
    {"xqcilb", NTR_ISA_XQCILB},
    {"xqci", NTR_ISA_XQCIBI | NTR_ISA_XQCILB | NTR_ISA_ZCMP},
    {"xcvbi", NTR_ISA_XCVBI},
    {"xcvhwlp", NTR_ISA_HARDWARE_LOOPS},
    {"xesploop", NTR_ISA_HARDWARE_LOOPS},
    {"xandesperf", NTR_ISA_XANDESPERF},
    {"xandes", NTR_ISA_XANDESPERF},
    {"xnds", NTR_ISA_XANDESPERF},
    {"xtheadint", NTR_ISA_XTHEADINT},
};

/* Takes one name and its version, "zcmp1p0". */
static unsigned extension_of(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        const size_t length = strlen(extensions[i].name);
        if (size < length || strncmp(name, extensions[i].name, length) != 0) continue;
        if (length == size || (name[length] >= '0' && name[length] <= '9')) return extensions[i].isa;
    }
    return 0;
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
