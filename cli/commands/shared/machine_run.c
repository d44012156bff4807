#include "commands/shared/machine_run.h"
#include "io/memory.h"
#include "io/document.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <inttypes.h>

static ntr_status take_events(void *user, const ntr_event *events, size_t count) {
    return ntr_machine_feed(user, events, count);
}

int cli_machine_decode(struct cli_analysis *a, const char *path, const struct cli_machine_options *options, bool watch,
                       ntr_machine **machine) {
    int status = cli_analysis_open(a, path, &options->analysis);

    *machine = NULL;
    if (status == CLI_OK && options->result.format == CLI_FORMAT_JSON) status = cli_analysis_rate(a);
    if (status != CLI_OK) return status;
    if (ntr_machine_new(a->data.program, a->data.functions, &cli_memory, machine))
        return cli_fail("%s: out of memory", path);
    ntr_machine_set_clocks(*machine, a->data.own_clocks);
    a->take_needs = NTR_TAKE_JOINED | NTR_TAKE_REPEATS;
    if (watch) a->join_except = NTR_MACHINE_WATCHED;
    if (watch && ntr_machine_watch(*machine) != NTR_OK) return cli_fail("%s: out of memory", path);
    status = cli_analysis_run(a, take_events, *machine);
    if (status != CLI_FAILED && ntr_machine_finish(*machine) != NTR_OK) return cli_fail("%s: out of memory", path);
    return status;
}

static size_t rows_of(const struct cli_machine_options *o) {
    enum { TEXT_ROWS_MAX = 40 };
    if (o->top >= 0) return (size_t)o->top;
    return o->result.format == CLI_FORMAT_TEXT ? TEXT_ROWS_MAX : SIZE_MAX;
}

static int write_output(struct cli_analysis *a, const ntr_machine *machine, const struct cli_machine_options *o,
                        int status, bool boots, void (*write)(const struct cli_machine_writer *w)) {
    struct cli_output out;
    struct cli_machine_writer w = {
        .out = &out,
        .machine = machine,
        .ticks_per_second = a->data.ticks_per_second,
        .format = cli_format_of_rows(o->result.format),
        .top = rows_of(o),
    };

    ntr_machine_totals_init(&w.totals);
    ntr_machine_totals_get(machine, &w.totals);
    if (cli_document_open(&out, &o->result, boots ? "boot" : "syscalls") != CLI_OK) return CLI_FAILED;
    write(&w);
    cli_analysis_end_document(a, &out);
    return cli_output_close(&out, status);
}

/* Returns whether the trace is one of a program alone: QEMU's user mode ran it, or all of it was in U-mode. */
static bool is_program(const struct cli_analysis *a, const ntr_machine *machine) {
    static const char user_mode[] = "qemu-riscv";
    const ntr_capture_info *capture = a->trace.bundle ? ntr_bundle_capture(a->trace.bundle) : NULL;
    ntr_machine_totals totals;

    ntr_machine_totals_init(&totals);
    ntr_machine_totals_get(machine, &totals);
    if (totals.has_modes) return totals.instructions && totals.modes[NTR_PRIVILEGE_U] == totals.instructions;
    return capture && capture->target && strncmp(capture->target, user_mode, strlen(user_mode)) == 0;
}

int cli_machine_run(const struct cli_machine_options *o, const char *path, bool watch, bool boots,
                    void (*write)(const struct cli_machine_writer *w)) {
    struct cli_analysis a;
    ntr_machine *machine;
    int status = cli_machine_decode(&a, path, o, watch, &machine);

    if (status != CLI_FAILED && is_program(&a, machine))
        status = cli_fail("%s: expected the trace of a machine %s, found that of a program in user mode; "
                          "'ntrace profile %s' shows its functions",
                          path, boots ? "that boots" : "with an operating system", path);
    if (status != CLI_FAILED && !o->analysis.partial) status = write_output(&a, machine, o, status, boots, write);
    ntr_machine_free(machine);
    cli_analysis_close(&a);
    return status;
}

void cli_machine_time(const struct cli_machine_writer *w, uint64_t ticks) {
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t unit = 0;

    if (!w->ticks_per_second) {
        cli_output_print(w->out, "%" PRIu64 " ticks", ticks);
        return;
    }
    const double seconds = (double)ticks / (double)w->ticks_per_second;
    while (unit < 3 && seconds < units[unit].seconds) unit++;
    cli_output_print(w->out, "%.3f %s", seconds / units[unit].seconds, units[unit].name);
}

double cli_machine_share(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
