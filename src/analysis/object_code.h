/* Code that object coverage counts: of the program, and of the file where the program has only the names of it. */
#ifndef NTR_ANALYSIS_OBJECT_CODE_H
#define NTR_ANALYSIS_OBJECT_CODE_H

#include <ntrace/program.h>

typedef struct ntr_object_code {
    const ntr_program *program;
    ntr_program *file; /* the code of the current image, if the program has only its names; or NULL */
} ntr_object_code;

/* Makes `image` the current image. A file without code, such as a table of symbols, is not an error. Returns NTR_OK or
 * NTR_E_MEMORY. */
ntr_status ntr_object_code_open(ntr_object_code *code, const ntr_image_info *image, const ntr_allocator *allocator);
void ntr_object_code_close(ntr_object_code *code);

/* Decodes the instruction at a place, and stores its bits. A trace that has the code itself has what was executed,
 * and zeros around it: the rest is that of the file. Returns false when there is no code. */
bool ntr_object_code_at(const ntr_object_code *code, ntr_place place, ntr_insn *insn, uint64_t *bits);

/* Returns the instruction set of the code at a place. */
unsigned ntr_object_code_isa(const ntr_object_code *code, ntr_place place);

#endif
