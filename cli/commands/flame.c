#include "options/options.h"
#include "commands/shared/exporting.h"

static int flame_run(const void *options, char **operands) {
    return cli_exporting_run("flame", options, operands[0]);
}

const struct cli_command cli_flame = {
    .operands = "TRACE",
    .min_operands = 0,
    .max_operands = 1,
    .groups = cli_exporting_tree_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = flame_run,
    .next = "open",
    .about = "Writes the number of instructions per call stack: folded stacks for flamegraph.pl and inferno, or JSON\n"
             "for speedscope. Every instruction is counted; nothing is sampled.\n"
             "\n"
             "Call stacks are rebuilt from calls and returns. Callers of the first function in the trace are not\n"
             "known.",
    .examples = "  ntrace flame hello.ntrace | flamegraph.pl >hello.svg\n"
                "  ntrace flame --to speedscope -o hello.json hello.ntrace",
};
