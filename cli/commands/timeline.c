#include "options/command.h"
#include "commands/exporting.h"

static int timeline_run(const void *options, char **operands) {
    return cli_exporting_run("timeline", options, operands[0]);
}

const struct cli_command cli_timeline = {
    .operands = "TRACE",
    .least = 0,
    .most = 1,
    .groups = cli_exporting_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = timeline_run,
    .about = "Writes what each hart was in, from when to when: functions nested as they were called, traps, contexts\n"
             "and gaps, for Perfetto's viewer (ui.perfetto.dev, \"Open trace file\").\n"
             "\n"
             "Time is the trace's own where it has timestamps; without, one instruction of a hart counts as one\n"
             "nanosecond. A long trace is cut by level of detail: at most 200,000 slices are kept, the shortest\n"
             "functions go first, over the whole trace alike; the process track's description tells from which\n"
             "length on all are there.\n"
             "\n"
             "`--to summary` and `--to json` tell how often each handler of interrupts and exceptions ran, how long it\n"
             "took, and what the timestamps tell of its latency (docs/analysis.md).",
    .examples = "  ntrace timeline -o hello.pftrace hello.ntrace\n"
                "  ntrace timeline --to summary hello.ntrace",
};
