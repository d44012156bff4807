/* What object coverage collects of one image of one run. */
#ifndef NTR_ANALYSIS_OBJECT_RUN_H
#define NTR_ANALYSIS_OBJECT_RUN_H

#include "analysis/object_code.h"
#include "analysis/object_state.h"

typedef struct ntr_object_run {
    ntr_object_coverage *coverage;
    const ntr_program *program;
    ntr_object_code code;
    const ntr_line_row *rows;
    size_t row_count;
    ntr_tally *tally;
    const ntr_insn_count *counts; /* sorted by address */
    size_t count;
    const char *image;
    size_t index; /* of the image */
    const uint32_t *first_image; /* ntr_program_first_images */
    uint64_t bias;
    ntr_debug_info *debug;
    size_t first; /* of `functions`: of the current image, */
    size_t described; /* ... and the end of those that debug information describes */
    const char *compared; /* the last file that was compared with the selection, */
    bool selected;        /* ... and whether it is selected */
} ntr_object_run;

/* Returns whether code of a source file is selected (ntr_object_coverage_only). */
bool ntr_object_run_selects(ntr_object_run *run, const char *file);

/* Returns the counts of the instruction at an address with these bytes. Code that was changed at run time may have had
 * others there: whether one of them was executed is stored in *other. */
ntr_insn_count ntr_object_run_count(const ntr_object_run *run, uint64_t address, uint64_t bits, bool *other);

/* Returns the place of an address of the current image. */
ntr_place ntr_object_run_place(const ntr_object_run *run, uint64_t address);

/* Adds an instruction to the function that was added last. Errors: NTR_E_MEMORY. */
ntr_status ntr_object_run_add_insn(ntr_object_run *run, uint64_t address, const ntr_insn *insn, uint64_t bits);

/* Adds a function without instructions. Returns NULL when out of memory. */
ntr_collected_function *ntr_object_run_add(ntr_object_run *run, const ntr_object_function *shown);

/* Add the functions of debug information in the image number `index`; the routines of assembler, which have none there
 * (object_routines.c); and the targets of indirect jumps and calls in the code [low, high) of the image. Errors:
 * NTR_E_MEMORY. */
ntr_status ntr_object_run_functions(ntr_object_run *run, size_t index);
ntr_status ntr_object_run_routines(ntr_object_run *run);
ntr_status ntr_object_run_targets(ntr_object_run *run, ntr_tally *tally, uint64_t low, uint64_t high);

#endif
