#include "options/result.h"

const struct cli_option cli_result_options[] = {
    CLI_CHOICE(0, "format", "text|jsonl|csv", struct cli_result, format, CLI_FORMAT_TEXT,
               "form of the output: text for people, JSON lines or CSV for programs"),
    CLI_STRING('o', "output-file", "FILE", struct cli_result, path, "write there instead of to standard output"),
    {0},
};

const struct cli_option cli_path_options[] = {
    CLI_STRING('o', "output-file", "FILE", struct cli_result, path, "write there instead of to standard output"),
    {0},
};
