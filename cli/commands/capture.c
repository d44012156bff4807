#include "commands/capture/linux.h"
#include "commands/capture/run.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>

#define S struct capture_options
static const struct cli_option capture_table[] = {
    CLI_STRING('o', "output", "BUNDLE", S, bundle,
               "name of the bundle to write, or of the script; not for topologies without a RAM sink"),
    CLI_STRING('t', "topology", "FILE", S, topology,
               "components, bases and connections (JSON, docs/system.md); required"),
    CLI_STRING(
        0, "sink", "NAME", S, sink,
        "the RAM sink or TMC to read (default: the only one); an ETF then stores the trace and passes nothing on"),
    CLI_LIST(0, "hart", "N", S, harts,
             "trace hart N only, with the components that its trace passes (repeatable; default: all harts)"),
    CLI_LIST(0, "buffer", "[NAME=]ADDRESS:SIZE", S, buffers,
             "let the sink NAME (default: the only sink) store trace in this system memory, which nothing else uses"),
    CLI_LIST(0, "set", "NAME.FIELD=VALUE", S, sets,
             "set a field of a component, as \"set\" of the topology does (repeatable); FIELD:N is that of register N"),
    CLI_STRING(0, "for", "TIME", S, run_for, "stop after TIME: 500ms, 10s (default: when interrupted)"),
    CLI_FLAG(0, "until-full", S, until_full, "stop when the buffer is full; older trace is not overwritten"),
    CLI_FLAG(0, "until-halt", S, until_halt, "stop when the hart halts, for example at a breakpoint"),
    CLI_FLAG(0, "resume", S, resume, "let the hart run when tracing has begun"),
    CLI_FLAG(0, "halt", S, halt, "halt the hart before tracing ends"),
    CLI_FLAG(0, "restore", S, restore, "write back all registers at the end as they were at the beginning"),
    CLI_FLAG(0, "running", S, keep,
             "trace is configured and running already: do not reset or configure anything; stop and read"),
    CLI_NUMBER(0, "loop", "N", S, loop, 1, 1000000, 1, "capture N times, into BUNDLE.1.ntrace, BUNDLE.2.ntrace, ..."),
    CLI_CHOICE(
        0, "when", "always|full|halt|trigger|lost", S, when, WHEN_ALWAYS,
        "write a bundle only if the capture ended with a full buffer, a halted hart or a trigger, or trace was lost"),
    CLI_STRING(0, "script", "openocd|gdb", S, script,
               "write a script for OpenOCD or GDB that captures; no connection is used"),
    CLI_STRING(0, "words", "FILE", S, words, "make the bundle from the file that such a script has written"),
    CLI_FLAG(
        0, "linux", S, linux_files,
        "on the target: use the kernel's own files of CoreSight devices; no topology, no connection. With a program, "
        "trace it from its first instruction to its end"),
    CLI_FLAG(0, "all", S, all, "--linux: trace all harts that are online"),
    CLI_FLAG(0, "read-only", S, read_only,
             "--linux: change nothing: only what the sink holds is read, such as a trace of the boot"),
    CLI_FLAG(0, "perf", S, perf, "--linux: record through perf; -o is then a perf.data"),
    CLI_STRING(0, "root", "DIR", S, root, "--linux: /sys and /dev are below this folder (default: /)"),
    CLI_FLAG('q', "quiet", S, quiet, "no progress and no summary"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", capture_table),
    CLI_GROUP("connection", cli_connection_options, struct capture_options, connection),
    CLI_GROUP("program", cli_image_options, struct capture_options, images),
    CLI_GROUP_ROWS("encoder", cli_encoder_rows, struct capture_options, encoder),
    {0},
};

/* A script is written without a target. */
static ntr_status no_read(void *user, uint64_t address, uint32_t *value) {
    (void)user, (void)address, (void)value;
    return NTR_E_IO;
}

static ntr_status no_write(void *user, uint64_t address, uint32_t value) {
    (void)user, (void)address, (void)value;
    return NTR_E_IO;
}

static int open_bus(struct capture_run *run) {
    const struct capture_options *o = run->options;

    if (o->words && capture_read_words(run) != CLI_OK) return CLI_FAILED;
    cli_target_catch_stop();
    if (o->words) return CLI_OK;
    if (!o->script) return cli_connection_open(&o->connection, &run->target.bus);
    run->target.bus = (ntr_bus){.size = sizeof run->target.bus, .read32 = no_read, .write32 = no_write};
    return CLI_OK;
}

static int capture_run_all(struct capture_run *run) {
    const struct capture_options *o = run->options;

    if (!o->topology) return cli_fail("expected --topology FILE: hardware does not say where its components are");
    if (!o->bundle && (o->script || o->words)) return cli_fail("expected -o %s", o->script ? "SCRIPT" : "BUNDLE");
    if ((o->script || o->words) && cli_connection_given(&o->connection))
        return cli_fail("--script and --words use no connection");
    if (o->run_for && !capture_time(o->run_for, &run->run_ms))
        return cli_fail("--for: expected a time such as 500ms or 10s, found '%s'", o->run_for);
    snprintf(run->how, sizeof run->how, "%s",
             o->words                ? "words of a script"
             : o->connection.openocd ? "OpenOCD"
             : o->connection.gdb     ? "GDB server"
             : o->connection.mem     ? "memory"
                                     : "helper");
    if (cli_target_topology(&run->target, o->topology) != CLI_OK) return CLI_FAILED;
    if ((!o->script && capture_check_files(run) != CLI_OK) || open_bus(run) != CLI_OK) return CLI_FAILED;
    const struct cli_part part = {&o->harts, o->sink};
    if (cli_target_make(&run->target, &o->connection, &part, capture_take_note, run) != CLI_OK) return CLI_FAILED;
    if (capture_configure(run) != CLI_OK) return CLI_FAILED;
    if (o->script) return capture_write_script(run);
    return o->words ? capture_write_bundle(run, o->bundle) : capture_all(run);
}

static int capture_run(const void *options, char **operands) {
    struct capture_run *run = calloc(1, sizeof *run);

    if (!run) return cli_fail("out of memory");
    run->options = options;
    if (run->options->linux_files || operands[0]) {
        cli_target_catch_stop();
        const int status = run->options->linux_files ? capture_linux(options, operands)
                                                     : cli_fail("%s: a program needs --linux", operands[0]);
        free(run);
        return status;
    }
    int status = capture_run_all(run);
    cli_target_close(&run->target);
    free(run->words);
    free(run);
    return status;
}

const struct cli_command cli_capture = {
    .operands = "[-- PROGRAM [ARGUMENT]...]",
    .min_operands = 0,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct capture_options),
    .run = capture_run,
    .about =
        "Captures a trace with the trace hardware of a board: resets and configures the components of the\n"
        "topology, lets the program run, disables everything in the order that loses no trace, reads the RAM\n"
        "sink and writes a bundle. Whatever happens, what was enabled is disabled again.\n"
        "\n"
        "The encoder options are those of 'ntrace run' that trace hardware has registers for; hardware that\n"
        "does not support one is reported. Without encoder options, history trace is used if there is any, and\n"
        "sources get different IDs. Tracing ends after --for, with --until-full, with --until-halt, when a\n"
        "trigger has stopped all encoders, or with an interrupt (Ctrl-C).\n"
        "\n"
        "With --script, the same sequence is written as a script for OpenOCD or GDB, to be run where ntrace\n"
        "cannot connect; it writes a file of register values and trace words, from which --words makes the\n"
        "bundle.\n"
        "\n"
        "If the topology has a PIB sink or an ATB bridge and no RAM sink, the trace is started and stopped, and read at\n"
        "the other end, for example by 'ntrace top'.\n"
        "\n"
        "With --linux, on the target, no debugger and no topology are needed: enable_source, enable_sink, buffer_size and\n"
        "/dev/tmc_etrN of the kernel are used. The bundle has the program, its libraries, the code of the kernel and its\n"
        "symbols. The devices are left as they were, also when the command is interrupted or killed.\n"
        "\n"
        "The exit status is 1 if trace was lost, and 2 if nothing was captured, or nothing that --when wants.\n"
        "docs/capture.md has examples for OpenOCD, J-Link, probe-rs and Linux on the target.",
    .examples =
        "  ntrace capture -o x.ntrace -e firmware.elf -t soc.json --openocd localhost:6666 --for 2s\n"
        "  ntrace capture -o x.ntrace -e firmware.elf -t soc.json --gdb localhost:3333 --resume --until-halt\n"
        "  ntrace capture -o x.ntrace -e app.elf -t soc.json --mem /dev/mem --buffer 0x90000000:0x100000 --for 1s\n"
        "  ntrace capture --linux --hart 5 -o x.ntrace -- ./program\n"
        "  ntrace capture --script openocd -o capture.tcl -t soc.json --for 1s\n"
        "  ntrace capture -o x.ntrace -e firmware.elf -t soc.json --words words.txt",
};
