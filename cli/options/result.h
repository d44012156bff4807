/* Options -o and --format: destination and format of the output. */
#ifndef CLI_OPTIONS_RESULT_H
#define CLI_OPTIONS_RESULT_H

#include "options/options.h"

enum cli_format { CLI_FORMAT_TEXT, CLI_FORMAT_JSONL, CLI_FORMAT_CSV };

struct cli_result {
    const char *path;
    int format; /* enum cli_format; a command with other formats declares its own --format */
};

extern const struct cli_option cli_result_options[]; /* --format text|jsonl|csv, -o */
extern const struct cli_option cli_path_options[];   /* -o alone */

#endif
