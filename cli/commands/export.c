#include "options/options.h"
#include "commands/shared/exporting.h"

static int export_run(const void *options, char **operands) {
    return cli_exporting_run("export", options, operands[0]);
}

const struct cli_command cli_export = {
    .operands = "TRACE",
    .min_operands = 0,
    .max_operands = 1,
    .groups = cli_exporting_sample_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = export_run,
    .about = "Writes the execution in the format of another tool: profiles for compilers and linkers, call graphs,\n"
             "or coverage per line and branch. '--to list' lists the formats; docs/exports.md describes them.",
    .examples = "  ntrace export --to callgrind -o callgrind.out hello.ntrace\n"
                "  ntrace export --to bolt trace.nex -e firmware.elf --src-bits 2",
};
