/* --elf, --raw: the program images that a trace ran through, shared by every command that needs them. */
#ifndef CLI_IO_IMAGES_H
#define CLI_IO_IMAGES_H

#include "options/options.h"

#include <ntrace/program.h>

struct cli_images {
    struct cli_list list;
};

extern const struct cli_option cli_image_options[];

/* Add the images in the order given. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_images_load(const struct cli_images *images, ntr_program *program);

#endif
