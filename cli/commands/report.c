#include "options/options.h"
#include "commands/shared/exporting.h"

static int report_run(const void *options, char **operands) {
    return cli_exporting_run("report", options, operands[0]);
}

const struct cli_command cli_report = {
    .operands = "TRACE",
    .min_operands = 0,
    .max_operands = 1,
    .groups = cli_exporting_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = report_run,
    .next = "open",
    .about = "Writes one self-contained HTML page: a summary, the gaps of the trace, the functions with the most\n"
             "instructions, a flame graph, the source with line counts and branch outcomes, a timeline, and the\n"
             "handlers of interrupts. The page needs no network and no other files.\n"
             "\n"
             "The size of the page is limited to about 5 MB, however long the trace is; the page states what was\n"
             "omitted. Source text is read from the path of the compilation or from --source-path, and is copied\n"
             "into the page.",
    .examples = "  ntrace report -o hello.html hello.ntrace\n"
                "  ntrace report -o firmware.html trace.nex -e firmware.elf --source-path src",
};
