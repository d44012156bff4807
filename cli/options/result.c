#include "options/result.h"

const struct cli_option cli_result_options[] = {
    CLI_CHOICE(0, "format", "text|jsonl|csv", struct cli_result, format, CLI_FORMAT_TEXT,
               "output format: text (default), JSON lines or CSV"),
    CLI_STRING('o', "output-file", "FILE", struct cli_result, path, "write to FILE (default: standard output)"),
    {0},
};

const struct cli_option cli_path_options[] = {
    CLI_STRING('o', "output-file", "FILE", struct cli_result, path, "write to FILE (default: standard output)"),
    {0},
};
