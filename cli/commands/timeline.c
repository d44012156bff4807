#include "options/options.h"
#include "commands/shared/exporting.h"

static int timeline_run(const void *options, char **operands) {
    return cli_exporting_run("timeline", options, operands[0]);
}

const struct cli_command cli_timeline = {
    .operands = "TRACE",
    .min_operands = 0,
    .max_operands = 1,
    .groups = cli_exporting_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = timeline_run,
    .next = "open",
    .about = "Writes the functions of each hart over time, nested as they were called, with traps, contexts and\n"
             "gaps, for the Perfetto viewer (ui.perfetto.dev, \"Open trace file\"), or with --to for Chrome's viewer,\n"
             "the Firefox Profiler, or babeltrace2.\n"
             "\n"
             "Time is taken from the timestamps of the trace. Without timestamps, one instruction of a hart counts\n"
             "as one nanosecond. At most 200,000 slices are written: in a longer trace the shortest functions are\n"
             "dropped, evenly over the whole trace; the description of the process track states the shortest\n"
             "duration that is complete.\n"
             "\n"
             "'--to summary' and '--to json' report for each handler of interrupts and exceptions how often it ran,\n"
             "how long it took, and its latency as far as the timestamps show it (docs/timeline.md).",
    .examples = "  ntrace timeline -o hello.pftrace hello.ntrace\n"
                "  ntrace timeline --to summary hello.ntrace",
};
