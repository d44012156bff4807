#include "options/command.h"
#include "commands/exporting.h"

static int export_run(const void *options, char **operands) {
    return cli_exporting_run("export", options, operands[0]);
}

const struct cli_command cli_export = {
    .operands = "TRACE",
    .least = 0,
    .most = 1,
    .groups = cli_exporting_tree_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = export_run,
    .about = "Writes what was executed in the format of another tool: profiles for compilers and linkers, call\n"
             "graphs, coverage of code, branch by branch. `--to list` tells every format; docs/analysis.md\n"
             "describes them.",
    .examples = "  ntrace export --to callgrind -o callgrind.out hello.ntrace\n"
                "  ntrace export --to bolt trace.nex -e firmware.elf --src-bits 2",
};
