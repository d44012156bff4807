/* Implementation for builds without libelf. */
#include "program/program.h"

ntr_status ntr_program_add_elf(ntr_program *program, const char *path, const ntr_image_options *options) {
    (void)options;
    return ntr_program_fail(program, NTR_E_UNSUPPORTED, "%s: this build does not support ELF files", path);
}
