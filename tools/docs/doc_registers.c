/* Prints docs/registers.md from the register table. */
#include <ntrace/registers.h>

#include <stdio.h>

static void print_reset(const ntr_bits_info *bits) {
    if (bits->reset == NTR_RESET_U)
        printf("U");
    else if (bits->reset == NTR_RESET_SD)
        printf("SD");
    else
        printf("%d", bits->reset);
}

static void print_values(ntr_bits bits) {
    const char *before = ". ";
    const ntr_register_value_info *value;
    for (size_t i = 0; (value = ntr_register_value_get(i)); i++) {
        if (value->bits != bits) continue;
        printf("%s%u %s", before, value->value, value->meaning);
        before = "; ";
    }
}

static void print_bits(ntr_register reg) {
    const ntr_bits_info *bits;
    printf("\n| Bits | Field | Access | Reset | | Meaning |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; (bits = ntr_bits_get(i)); i++) {
        if (bits->reg != reg) continue;
        if (bits->high == bits->low)
            printf("| %u ", bits->low);
        else
            printf("| %u:%u ", bits->high, bits->low);
        printf("| %s | %s | ", bits->name, ntr_access_name(bits->access));
        print_reset(bits);
        printf(" | %s | %s", ntr_compliance_name(bits->compliance), bits->meaning);
        print_values((ntr_bits)i);
        printf(" |\n");
    }
}

static void print_register(ntr_register reg) {
    const ntr_register_info *row = ntr_register_get(reg);
    char name[48];
    ntr_register_name(reg, 0, name, sizeof name);
    printf("\n### %s, 0x%03x", name, row->offset);
    if (row->count > 1) {
        ntr_register_name(reg, row->count - 1u, name, sizeof name);
        printf(" .. %s, 0x%03x (every 0x%x)", name, row->offset + (row->count - 1u) * row->stride, row->stride);
    }
    printf("\n\n%s\n",
           row->compliance == NTR_ABSENT ? "Not part of N-Trace 1.0: reads 0." : ntr_compliance_name(row->compliance));
    print_bits(reg);
}

static void print_component(ntr_component component) {
    const ntr_component_info *info = ntr_component_get(component);
    printf("\n## %s\n", info->title);
    if (info->type) printf("\nComponent type 0x%x.\n", info->type);
    for (size_t reg = 0; ntr_register_get(reg); reg++)
        if (ntr_register_get(reg)->component == component) print_register((ntr_register)reg);
}

int main(void) {
    printf(
        "# Registers\n\n"
        "All registers and fields of RISC-V Trace Control 1.0. Made by `make docs` from `include/ntrace/registers.def`; the\n"
        "model, `ntrace regs` and the constants of `ntrace/registers.h` come from the same table. Do not edit this page.\n"
        "\n"
        "```sh\n"
        "ntrace regs trTeControl=0x61                # the fields of a value\n"
        "ntrace regs ram                             # the registers of a component\n"
        "```\n"
        "\n"
        "All registers have 32 bits. A component occupies 4 KiB. Registers that are not listed, and bits without a name, read 0\n"
        "and ignore writes.\n"
        "\n"
        "| access | meaning |\n"
        "|---|---|\n"
        "| RO | read only |\n"
        "| RW | read and write |\n"
        "| RW1C | writing 1 clears |\n"
        "| W1 | writing 1 has an effect; writing 0 has none |\n"
        "| WARL | any value may be written; a legal value is read back |\n"
        "\n"
        "Reset: a value; U is undefined, software must write it first; SD depends on the system. `absent` is not part of\n"
        "N-Trace 1.0 and reads 0.\n");
    for (size_t component = 0; ntr_component_get(component); component++) print_component((ntr_component)component);
    return 0;
}
