#include "options/command.h"
#include "commands/exporting.h"

static int flame_run(const void *options, char **operands) {
    return cli_exporting_run("flame", options, operands[0]);
}

const struct cli_command cli_flame = {
    .operands = "TRACE",
    .least = 0,
    .most = 1,
    .groups = cli_exporting_tree_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = flame_run,
    .about = "Draws where instructions went, by the stack of calls they were executed in: folded stacks for\n"
             "flamegraph.pl and inferno, or JSON for speedscope. Counts are exact: every instruction counts.\n"
             "\n"
             "Stacks are rebuilt from calls and returns; what is below the first function seen is not known.",
    .examples = "  ntrace flame hello.ntrace | flamegraph.pl >hello.svg\n"
                "  ntrace flame --to speedscope -o hello.json hello.ntrace",
};
