/* Implementation for builds without libelf. */
#include "program/program.h"

#include <ntrace/program_files.h>

ntr_status ntr_program_add_elf(ntr_program *program, const char *path, const ntr_image_options *options) {
    (void)options;
    return ntr_program_fail(program, NTR_E_UNSUPPORTED, "%s: this build does not support ELF files", path);
}

ntr_status ntr_program_add_debug_symbols(ntr_program *program, size_t index, ntr_bytes file) {
    (void)file;
    if (index >= program->image_count) return NTR_E_INVALID;
    return ntr_program_fail(program, NTR_E_UNSUPPORTED, program->images[index].name,
                            "this build does not support ELF files");
}
