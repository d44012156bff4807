#include "analysis/object_code.h"

#include "program/program.h"

ntr_status ntr_object_code_open(ntr_object_code *code, const ntr_image_info *image, const ntr_allocator *allocator) {
    if (image->low || image->high) return NTR_OK; /* the program has its code */
    ntr_program_new(allocator, &code->file);
    if (!code->file) return NTR_E_MEMORY;
    ntr_status status = ntr_program_add_elf(code->file, image->path, &image->options);
    if (status != NTR_OK) ntr_object_code_close(code);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

void ntr_object_code_close(ntr_object_code *code) {
    ntr_program_free(code->file);
    code->file = NULL;
}

bool ntr_object_code_at(const ntr_object_code *code, ntr_place place, ntr_insn *insn, uint64_t *bits) {
    const bool found = ntr_program_insn(code->program, place, insn) == NTR_OK;
    *bits = found ? ntr_program_bits(code->program, place, insn->size) : 0;
    if (!code->file || *bits) return found;
    ntr_insn other;
    if (ntr_program_insn(code->file, place, &other) != NTR_OK) return found;
    *insn = other;
    *bits = ntr_program_bits(code->file, place, insn->size);
    return true;
}

unsigned ntr_object_code_isa(const ntr_object_code *code, ntr_place place) {
    return ntr_program_isa(code->file ? code->file : code->program, place);
}
