/* The encoder's options (ntrace/encoder.h has the list) as a group of the command line. */
#ifndef CLI_OPTIONS_ENCODER_OPTIONS_H
#define CLI_OPTIONS_ENCODER_OPTIONS_H

#include "options/options.h"

#include <ntrace/encoder.h>

struct cli_encoder {
    struct cli_list list;
};

/* For cli_group.rows, over a struct cli_encoder. */
const struct cli_option *cli_encoder_rows(void);

/* Set what was given, in order. Returns CLI_OK, or CLI_FAILED after telling why. */
int cli_encoder_configure(const struct cli_encoder *given, ntr_encoder_config *config);

#endif
