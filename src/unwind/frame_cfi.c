#include "unwind/frame_rules.h"

#include "analysis/dwfl_file.h"
#include "base/allocator.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct ntr_frame_cfi {
    const ntr_allocator *allocator;
    ntr_dwfl_file file;
    Dwarf_CFI *tables[2]; /* .debug_frame, .eh_frame */
    uint64_t bias[2];     /* address of the image minus that of the table */
};

ntr_frame_cfi *ntr_frame_cfi_open(const ntr_image_info *image, const char *debug_path, const ntr_limits *limits,
                                  const ntr_allocator *allocator) {
    ntr_frame_cfi *cfi = ntr_alloc(allocator, 1, sizeof *cfi);
    if (!cfi) return NULL;
    cfi->allocator = allocator;
    if (ntr_dwfl_file_open(&cfi->file, image, debug_path, NULL, limits, allocator) == NTR_OK && cfi->file.module) {
        Dwarf_Addr start, bias[2] = {0};
        dwfl_module_info(cfi->file.module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
        cfi->tables[0] = dwfl_module_dwarf_cfi(cfi->file.module, &bias[0]);
        cfi->tables[1] = dwfl_module_eh_cfi(cfi->file.module, &bias[1]);
        for (unsigned i = 0; i < 2; i++) cfi->bias[i] = image->options.bias + bias[i];
    }
    if (cfi->tables[0] || cfi->tables[1]) return cfi;
    ntr_frame_cfi_close(cfi);
    return NULL;
}

void ntr_frame_cfi_close(ntr_frame_cfi *cfi) {
    if (!cfi) return;
    ntr_dwfl_file_close(&cfi->file);
    ntr_dealloc(cfi->allocator, cfi);
}

/* CFA = register + offset. */
static bool read_cfa(Dwarf_Frame *frame, ntr_frame_rule *rule) {
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1) return false;
    uint64_t reg = ops[0].number;
    rule->offset = (int64_t)ops[0].number2;
    if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
        reg = (uint64_t)ops[0].atom - DW_OP_breg0;
        rule->offset = (int64_t)ops[0].number;
    } else if (ops[0].atom != DW_OP_bregx) {
        return false;
    }
    rule->by_fp = reg == NTR_REG_FP;
    return reg == NTR_REG_FP || reg == NTR_REG_SP;
}

/* A saved register is at CFA or CFA + offset; everything else counts as not saved. */
static ntr_saved_register read_register(Dwarf_Frame *frame, int number) {
    Dwarf_Op memory[3], *ops;
    size_t count;
    ntr_saved_register saved = {0};
    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0 || count == 0) return saved;
    if (ops[0].atom != DW_OP_call_frame_cfa || ops[count - 1].atom == DW_OP_stack_value) return saved;
    if (count == 2 && ops[1].atom != DW_OP_plus_uconst) return saved;
    saved.saved = count <= 2;
    saved.offset = count == 2 ? (int64_t)ops[1].number : 0;
    return saved;
}

static bool read_rule(Dwarf_CFI *table, uint64_t address, ntr_frame_rule *rule) {
    Dwarf_Frame *frame;
    if (!table || dwarf_cfi_addrframe(table, address, &frame) != 0) return false;
    bool good = read_cfa(frame, rule);
    if (good) rule->ra = read_register(frame, NTR_REG_RA);
    if (good) rule->t0 = read_register(frame, NTR_REG_T0);
    if (good) rule->fp = read_register(frame, NTR_REG_FP);
    rule->by_t0 = dwarf_frame_info(frame, NULL, NULL, NULL) == NTR_REG_T0;
    free(frame);
    return good;
}

bool ntr_frame_cfi_rule(const ntr_frame_cfi *cfi, uint64_t address, ntr_frame_rule *rule) {
    for (unsigned i = 0; i < 2; i++)
        if (read_rule(cfi->tables[i], address - cfi->bias[i], rule)) return true;
    return false;
}
