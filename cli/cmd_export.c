#include "command.h"
#include "exporting.h"

static const struct cli_group groups[] = {
    CLI_OWN("options", cli_exporting_options),
    CLI_GROUP("trace", cli_answers_options, struct cli_exporting_options, answers),
    CLI_GROUP("program", cli_image_options, struct cli_exporting_options, answers.images),
    CLI_GROUP("the stream", cli_stream_options, struct cli_exporting_options, answers.stream),
    {0},
};

static int export_run(const void *options, char **operands) {
    return cli_exporting_run("export", options, operands[0]);
}

const struct cli_command cli_export = {
    .operands = "TRACE",
    .least = 0,
    .most = 1,
    .groups = groups,
    .size = sizeof(struct cli_exporting_options),
    .run = export_run,
    .about = "Writes what was executed in the format of another tool: profiles for compilers and linkers, call\n"
             "graphs, coverage of code, branch by branch. `--to list` tells every format; docs/exports.md describes\n"
             "them.",
    .examples = "  ntrace export --to callgrind -o callgrind.out hello.ntrace\n"
                "  ntrace export --to bolt trace.nex -e firmware.elf --src-bits 2",
};
