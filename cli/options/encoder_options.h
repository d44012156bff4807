/* The encoder options of <ntrace/encoder.h> as a group of command line options. */
#ifndef CLI_OPTIONS_ENCODER_OPTIONS_H
#define CLI_OPTIONS_ENCODER_OPTIONS_H

#include "options/options.h"

#include <ntrace/encoder.h>

struct cli_encoder {
    struct cli_list list;
};

/* Returns the option table for cli_group.rows; the member is a struct cli_encoder. */
const struct cli_option *cli_encoder_rows(void);

/* Was this option given? */
bool cli_encoder_gives(const struct cli_encoder *given, const char *name);

/* Applies the given options to `config` in order. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_encoder_configure(const struct cli_encoder *given, ntr_encoder_config *config);

#endif
