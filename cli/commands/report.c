#include "options/command.h"
#include "commands/exporting.h"

static int report_run(const void *options, char **operands) {
    return cli_exporting_run("report", options, operands[0]);
}

const struct cli_command cli_report = {
    .operands = "TRACE",
    .least = 0,
    .most = 1,
    .groups = cli_exporting_groups,
    .size = sizeof(struct cli_exporting_options),
    .run = report_run,
    .about = "Writes one HTML page that tells all that the other answers tell: a summary, what is missing from the\n"
             "trace, the hottest functions, a flame graph, the source with the counts of its lines and the outcomes of\n"
             "its branches, a timeline and the handlers of interrupts. The page needs no network and nothing beside it.\n"
             "\n"
             "However long the trace, the page stays below about 5 MB: what is left out of it is told where it is\n"
             "missing. The text of the source is read from where the program was compiled, or from --source-path, and\n"
             "becomes part of the page.",
    .examples = "  ntrace report -o hello.html hello.ntrace\n"
                "  ntrace report -o firmware.html trace.nex -e firmware.elf --source-path src",
};
