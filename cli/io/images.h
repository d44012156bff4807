/* Options --elf, --raw, --jitdump, --perf-map, --symbols and --map: the program images of a trace. */
#ifndef CLI_IO_IMAGES_H
#define CLI_IO_IMAGES_H

#include "io/maps.h"
#include "options/options.h"

#include <ntrace/dialect.h>
#include <ntrace/program.h>

struct cli_images {
    struct cli_list list;
    struct cli_list folders; /* perf.data: where its files are */
    struct cli_maps maps;
    const char *sysroot;     /* perf.data: folder in which the paths of its files are */
    struct cli_list instructions; /* files with instructions that no extension has */
    const char *isa;         /* of code whose file does not say it, and more extensions of code whose file does */
};

extern const struct cli_option cli_image_options[];

/* Adds the images to `program` in the order given. `xlen`: the value of --xlen, NULL: not given. Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int cli_images_load(const struct cli_images *images, const char *xlen, ntr_program *program);

/* Sets the ISA of code whose file does not say it: that of --isa, else RV32 or RV64 by `xlen`, the value of --xlen
 * (NULL: not given). A dialect of a vendor has the branches of its cores. Call it after cli_images_load. Returns
 * CLI_OK, or CLI_FAILED after reporting the error. */
int cli_images_isa(const struct cli_images *images, const char *xlen, const ntr_dialect *dialect, ntr_program *program);

#endif
