/* The bundle that a run leaves. */
#ifndef CLI_RUN_BUNDLE_H
#define CLI_RUN_BUNDLE_H

#include "capture/guest.h"
#include "capture/harts.h"

#include <ntrace/bundle.h>

struct run_report {
    const struct run_harts *harts;
    const struct run_guest *guest;
    const struct run_code *code; /* finished */
    char *const *command;        /* ends with NULL */
    const char *program;         /* path of the ELF file */
    const char *stream;          /* file in the bundle */
    unsigned xlen;
};

/* Copy the images, describe everything, give the bundle its name. Returns CLI_OK, or CLI_FAILED after telling why. */
int run_bundle_finish(ntr_bundle *bundle, const struct run_report *report);

#endif
