#include "commands/capture_bundle.h"
#include "io/input.h"
#include "io/output.h"
#include "io/target.h"
#include "options/command.h"
#include "options/diagnostics.h"
#include "options/encoder_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WHEN_ALWAYS, WHEN_FULL, WHEN_HALT, WHEN_TRIGGER, WHEN_LOST };
enum { POLL_MS = 100, PAUSE_NANOSECONDS = 1000000, MS_IN_S = 1000, SCRIPT_WORDS_MAX = 1 << 30 };

struct capture_options {
    struct cli_connection connection;
    struct cli_encoder encoder;
    struct cli_images images;
    const char *bundle, *topology, *sink, *run_for, *script, *words;
    struct cli_list buffers, sets;
    int until_full, until_halt, resume, halt, restore, keep, quiet, when;
    int64_t loop;
};

#define S struct capture_options
static const struct cli_option capture_table[] = {
    CLI_STRING('o', "output", "BUNDLE", S, bundle,
               "name of the bundle to write, or of the script; not for topologies without a RAM sink"),
    CLI_STRING('t', "topology", "FILE", S, topology, "components, bases and connections (JSON, docs/system.md); required"),
    CLI_STRING(0, "sink", "NAME", S, sink, "the RAM sink to read (default: the only one)"),
    CLI_LIST(0, "buffer", "[NAME=]ADDRESS:SIZE", S, buffers,
             "let the sink NAME (default: the only RAM sink) store trace in this system memory, which nothing else uses"),
    CLI_LIST(0, "set", "NAME.FIELD=VALUE", S, sets,
             "set a field of a component, as \"set\" of the topology does (repeatable); FIELD:N is that of register N"),
    CLI_STRING(0, "for", "TIME", S, run_for, "stop after TIME: 500ms, 10s (default: when interrupted)"),
    CLI_FLAG(0, "until-full", S, until_full, "stop when the buffer is full; older trace is not overwritten"),
    CLI_FLAG(0, "until-halt", S, until_halt, "stop when the hart halts, for example at a breakpoint"),
    CLI_FLAG(0, "resume", S, resume, "let the hart run when tracing has begun"),
    CLI_FLAG(0, "halt", S, halt, "halt the hart before tracing ends"),
    CLI_FLAG(0, "restore", S, restore, "write back all registers at the end as they were at the beginning"),
    CLI_FLAG(0, "keep", S, keep, "trace is configured and running already: do not reset or configure anything; stop and read"),
    CLI_NUMBER(0, "loop", "N", S, loop, 1, 1000000, 1, "capture N times, into BUNDLE.1.ntrace, BUNDLE.2.ntrace, ..."),
    CLI_CHOICE(0, "when", "always|full|halt|trigger|lost", S, when, WHEN_ALWAYS,
               "write a bundle only if the capture ended with a full buffer, a halted hart or a trigger, or trace was lost"),
    CLI_STRING(0, "script", "openocd|gdb", S, script,
               "write a script for OpenOCD or GDB that captures; no connection is used"),
    CLI_STRING(0, "words", "FILE", S, words, "make the bundle from the file that such a script has written"),
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

struct capture_run {
    const struct capture_options *options;
    struct cli_target target;
    struct capture_losses losses;
    bool stopping; /* notes are about trace that was lost */
    uint64_t run_ms; /* 0: no limit */
    size_t sink;
    const char *leaves; /* the PIB sink or ATB bridge, if there is no RAM sink to read: then no bundle is written */
    ntr_target_state state;
    char how[128];
    char *words;
};

/* ---- options */

static bool parse_time(const char *text, uint64_t *ms) {
    static const struct { const char *unit; uint64_t factor; } units[] = {{"ms", 1}, {"s", MS_IN_S}, {"min", 60 * MS_IN_S}};
    char number[24];
    const size_t digits = strspn(text, "0123456789");

    if (!digits || digits >= sizeof number) return false;
    memcpy(number, text, digits);
    number[digits] = 0;
    if (!cli_parse_number(number, ms) || !*ms || *ms > UINT64_MAX / (60 * MS_IN_S)) return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].unit) != 0) continue;
        *ms *= units[i].factor;
        return true;
    }
    return false;
}

static bool find_component(const struct capture_run *run, const char *name, size_t length, size_t *index) {
    ntr_system_component one;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++) {
        if (strlen(one.name) != length || strncmp(one.name, name, length) != 0) continue;
        *index = i;
        return true;
    }
    return false;
}

/* Without a RAM sink, the trace leaves the chip while it runs. */
static int find_exit(struct capture_run *run) {
    const struct capture_options *o = run->options;
    ntr_system_component one;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++)
        if (one.kind == NTR_COMPONENT_PIB || one.kind == NTR_COMPONENT_ATB) run->leaves = one.name;
    if (!run->leaves) return cli_fail("%s has no sink", o->topology);
    if (!o->bundle && !o->until_full) return CLI_OK;
    return cli_fail("%s has no RAM sink: the trace leaves through %s and is read at its other end; without %s, it is started and stopped",
                    o->topology, run->leaves, o->until_full ? "--until-full" : "-o");
}

static int find_sink(struct capture_run *run) {
    const char *name = run->options->sink;
    ntr_system_component one;
    unsigned count = 0;

    for (size_t i = 0; ntr_system_component_get(ntr_target_components(run->target.target), i, &one) == NTR_OK; i++) {
        if (one.kind != NTR_COMPONENT_RAM || (name && strcmp(name, one.name) != 0)) continue;
        run->sink = i;
        count++;
    }
    if (count == 1) return run->options->bundle ? CLI_OK : cli_fail("expected -o BUNDLE");
    if (name) return cli_fail("--sink: expected the name of a RAM sink of %s, found '%s'", run->options->topology, name);
    return count ? cli_fail("%s has %u RAM sinks; choose one with --sink", run->options->topology, count) : find_exit(run);
}

static int set_buffer(struct capture_run *run, const char *text) {
    size_t sink = run->sink;
    uint64_t address, size;
    const char *equals = strchr(text, '='), *colon = strrchr(text, ':');
    const char *number = equals ? equals + 1 : text;
    char first[40];

    if (equals && !find_component(run, text, (size_t)(equals - text), &sink))
        return cli_fail("--buffer: no component of the topology has the name in '%s'", text);
    if (!colon || colon < number || (size_t)(colon - number) >= sizeof first)
        return cli_fail("--buffer: expected ADDRESS:SIZE, found '%s'", text);
    memcpy(first, number, (size_t)(colon - number));
    first[colon - number] = 0;
    if (!cli_parse_number(first, &address) || !cli_parse_number(colon + 1, &size))
        return cli_fail("--buffer: expected ADDRESS:SIZE, found '%s'", text);
    const ntr_status status = ntr_target_set_buffer(run->target.target, sink, address, size);
    if (status == NTR_OK) return CLI_OK;
    return cli_fail("--buffer %s: %s", text, status == NTR_E_INVALID ? "not a RAM sink" : "expected whole words of the sink");
}

static int set_field(struct capture_run *run, const char *text) {
    const char *dot = strchr(text, '.'), *equals = dot ? strchr(dot, '=') : NULL;
    char field[64], *colon;
    uint64_t value, number = 0;
    size_t component;

    if (!equals || (size_t)(equals - dot) > sizeof field || !cli_parse_number(equals + 1, &value) || value > UINT32_MAX)
        return cli_fail("--set: expected NAME.FIELD=VALUE, found '%s'", text);
    memcpy(field, dot + 1, (size_t)(equals - dot - 1));
    field[equals - dot - 1] = 0;
    if ((colon = strchr(field, ':'))) {
        if (!cli_parse_number(colon + 1, &number) || number > UINT8_MAX)
            return cli_fail("--set: expected FIELD:NUMBER, found '%s'", field);
        *colon = 0;
    }
    if (!find_component(run, text, (size_t)(dot - text), &component))
        return cli_fail("--set: no component '%.*s' in %s", (int)(dot - text), text, run->options->topology);
    const ntr_status status = ntr_target_set(run->target.target, component, field, (unsigned)number, (uint32_t)value);
    return status == NTR_OK ? CLI_OK
                            : cli_fail("--set %s: %s", text, status == NTR_E_NAME ? "not a field of this component ('ntrace regs')"
                                                                                  : "the value does not fit");
}

static int set_option(struct capture_run *run, const struct cli_item *item) {
    const ntr_status status = ntr_target_set_option(run->target.target, item->name, item->value);

    if (status == NTR_OK) return CLI_OK;
    if (status == NTR_E_UNSUPPORTED)
        return cli_fail("--%s: trace hardware has no register for it; the hardware fixes it, or the topology describes it",
                        item->name);
    if (status == NTR_E_LIMIT) return cli_fail("--%s: more conditions than trace hardware has comparators", item->name);
    return cli_fail("--%s: '%s': %s", item->name, item->value ? item->value : "", ntr_status_text(status));
}

static int configure(struct capture_run *run) {
    const struct capture_options *o = run->options;
    int status = find_sink(run);

    for (size_t i = 0; status == CLI_OK && i < o->buffers.count; i++) status = set_buffer(run, o->buffers.items[i].value);
    for (size_t i = 0; status == CLI_OK && i < o->sets.count; i++) status = set_field(run, o->sets.items[i].value);
    for (size_t i = 0; status == CLI_OK && i < o->encoder.list.count; i++) status = set_option(run, &o->encoder.list.items[i]);
    if (status == CLI_OK && o->until_full && ntr_target_set(run->target.target, run->sink, "trRamStopOnWrap", 0, 1) != NTR_OK)
        status = cli_fail("out of memory");
    return status;
}

/* ---- one capture */

static void take_note(void *user, const char *sentence) {
    struct capture_run *run = user;

    cli_note("%s", sentence);
    if (run->stopping) capture_losses_add(&run->losses, sentence);
}

static uint64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * MS_IN_S + (uint64_t)time.tv_nsec / PAUSE_NANOSECONDS;
}

static void show(const struct capture_run *run, uint64_t elapsed) {
    const ntr_target_state *state = &run->state;

    if (run->options->quiet || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "%" PRIu64 ".%" PRIu64 " s: %" PRIu64 " of %" PRIu64 " bytes%s%s, %u of %u encoders trace%s\033[K\r",
            elapsed / MS_IN_S, elapsed % MS_IN_S / 100, state->stored, state->capacity, state->wrapped ? ", wrapped" : "",
            state->lost ? ", trace lost" : "", state->tracing, state->encoders,
            !state->halt_known ? "" : state->halted ? ", hart halted" : "");
}

static bool has_ended(const struct capture_run *run, uint64_t elapsed) {
    const struct capture_options *o = run->options;
    const ntr_target_state *state = &run->state;

    if (cli_target_stopped() || (run->run_ms && elapsed >= run->run_ms)) return true;
    if (state->full && o->until_full) return true;
    if (o->until_halt && state->halt_known && state->halted) return true;
    return state->encoders && !state->tracing; /* a trigger */
}

static ntr_status wait_for_end(struct capture_run *run) {
    const uint64_t started = now_ms();
    ntr_status status = NTR_OK;

    for (;;) {
        status = ntr_target_poll(run->target.target, &run->state);
        const uint64_t elapsed = now_ms() - started;
        if (status != NTR_OK || has_ended(run, elapsed)) break;
        show(run, elapsed);
        const uint64_t left = run->run_ms ? run->run_ms - elapsed : POLL_MS;
        const uint64_t pause = left < POLL_MS ? left : POLL_MS;
        nanosleep(&(struct timespec){0, (long)pause * PAUSE_NANOSECONDS}, NULL);
    }
    if (!run->options->quiet && isatty(STDERR_FILENO)) fputs("\033[K", stderr);
    return status;
}

static int control_hart(struct capture_run *run, ntr_bus_hart what, const char *option) {
    const ntr_bus *bus = &run->target.bus;
    bool halted = false;
    ntr_status status = bus->hart ? NTR_OK : NTR_E_UNSUPPORTED;

    if (status == NTR_OK) status = bus->hart(bus->user, NTR_BUS_HART_STATE, &halted);
    if (status == NTR_OK && halted != (what == NTR_BUS_HART_HALT)) status = bus->hart(bus->user, what, &halted);
    if (status == NTR_OK) return CLI_OK;
    return cli_fail("--%s: %s", option, status == NTR_E_UNSUPPORTED ? "this connection controls no hart" : bus->error(bus->user));
}

/* A connection that fails while trace runs: what was traced until then is kept, if it can be read. */
static int end_early(struct capture_run *run) {
    char text[CAPTURE_LOSS_TEXT];

    if (run->options->resume) snprintf(text, sizeof text, "the trace ends early, and the state of the hart is not known: ");
    else snprintf(text, sizeof text, "the trace ends early: ");
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s", ntr_target_error(run->target.target));
    cli_note("%s", text);
    capture_losses_add(&run->losses, text);
    return CLI_DEFECTS;
}

/* Starts, waits and stops. Whatever happens, what was enabled is disabled. */
static int run_trace(struct capture_run *run) {
    const struct capture_options *o = run->options;
    ntr_target *target = run->target.target;
    ntr_status status = o->keep ? NTR_OK : ntr_target_start(target);
    int result = status == NTR_OK ? CLI_OK : cli_fail("%s", ntr_target_error(target));

    if (status == NTR_OK && o->resume) result = control_hart(run, NTR_BUS_HART_RESUME, "resume");
    if (result == CLI_OK && wait_for_end(run) != NTR_OK) result = end_early(run);
    if (result != CLI_FAILED && o->halt && control_hart(run, NTR_BUS_HART_HALT, "halt") != CLI_OK) result = CLI_FAILED;
    run->stopping = true;
    if (ntr_target_stop(target) != NTR_OK && result == CLI_OK) result = CLI_DEFECTS; /* notes say what */
    run->stopping = false;
    return result;
}

static bool is_wanted(const struct capture_run *run) {
    const ntr_target_state *state = &run->state;

    switch (run->options->when) {
    case WHEN_FULL: return state->full;
    case WHEN_HALT: return state->halt_known && state->halted;
    case WHEN_TRIGGER: return state->encoders && !state->tracing;
    case WHEN_LOST: return state->lost;
    default: return true;
    }
}

static int write_bundle(struct capture_run *run, const char *path) {
    const struct capture_bundle bundle = {.path = path, .target = run->target.target, .bus = &run->target.bus,
                                          .sink = run->sink, .images = &run->options->images, .how = run->how,
                                          .losses = &run->losses};
    uint64_t bytes = 0;
    int status = capture_bundle_write(&bundle, &bytes);

    if (status == CLI_FAILED) return status;
    if (!bytes) {
        ntr_target_explain_empty(run->target.target);
        return cli_fail("nothing was stored (WP = Start, not wrapped); no bundle was written");
    }
    if (!run->options->quiet) cli_note("%s: %" PRIu64 " bytes of trace; next: ntrace profile %s", path, bytes, path);
    return status;
}

static int capture_once(struct capture_run *run, const char *path) {
    run->losses.count = 0;
    run->state = (ntr_target_state){0};
    int status = run_trace(run);
    if (status == CLI_FAILED) return status;
    if (run->leaves) {
        if (!run->options->quiet) cli_note("the trace has left through %s: read it at its other end", run->leaves);
        return status;
    }
    if (!is_wanted(run)) return CLI_OK;
    const int written = write_bundle(run, path);
    return written > status ? written : status;
}

/* BUNDLE.ntrace becomes BUNDLE.N.ntrace. */
static void numbered(const char *path, int64_t number, char *out, size_t size) {
    static const char suffix[] = ".ntrace";
    const size_t length = strlen(path), tail = sizeof suffix - 1;
    const bool has = length > tail && strcmp(path + length - tail, suffix) == 0;

    snprintf(out, size, "%.*s.%" PRId64 "%s", (int)(has ? length - tail : length), path, number, suffix);
}

/* An option that needs the hart fails before anything is written to registers. */
static int need_hart(const struct capture_run *run) {
    const struct capture_options *o = run->options;
    const ntr_bus *bus = &run->target.bus;
    const char *option = o->resume ? "resume" : o->until_halt ? "until-halt" : o->halt ? "halt" : NULL;
    bool halted;

    if (!option) return CLI_OK;
    const ntr_status status = bus->hart ? bus->hart(bus->user, NTR_BUS_HART_STATE, &halted) : NTR_E_UNSUPPORTED;
    if (status == NTR_OK) return CLI_OK;
    return cli_fail("--%s: %s", option, status == NTR_E_UNSUPPORTED ? "this connection controls no hart" : bus->error(bus->user));
}

static int capture_all(struct capture_run *run) {
    const struct capture_options *o = run->options;
    int status = need_hart(run);

    if (status != CLI_OK) return status;
    if (o->restore && ntr_target_save(run->target.target) != NTR_OK) return cli_fail("%s", ntr_target_error(run->target.target));
    for (int64_t i = 1; i <= o->loop && status != CLI_FAILED && !(i > 1 && cli_target_stopped()); i++) {
        char path[4096] = "";
        if (o->bundle) numbered(o->bundle, i, path, sizeof path);
        const int one = capture_once(run, o->loop > 1 ? path : o->bundle);
        if (one > status) status = one;
    }
    if (o->restore && ntr_target_restore(run->target.target) != NTR_OK)
        status = cli_fail("the registers were not restored: %s", ntr_target_error(run->target.target));
    return status;
}

/* ---- scripts */

static void put_text(void *user, const char *text) {
    cli_output_text(user, text);
}

static int write_script(struct capture_run *run) {
    struct cli_output out;
    ntr_script_options script;

    ntr_script_options_init(&script);
    script.kind = run->options->script;
    script.run_ms = run->run_ms;
    script.resume = run->options->resume;
    script.sink = run->sink;
    script.write = put_text;
    script.user = &out;
    if (!run->run_ms && !run->options->until_halt) return cli_fail("--script needs --for TIME or --until-halt");
    if (cli_output_open(&out, run->options->bundle) != CLI_OK) return CLI_FAILED;
    const ntr_status status = ntr_target_script(run->target.target, &script);
    return cli_output_close(&out, status == NTR_OK ? CLI_OK : cli_fail("--script: %s", ntr_status_text(status)));
}

static int read_words(struct capture_run *run) {
    size_t size;
    unsigned line = 0;

    run->words = cli_input_whole(run->options->words, SCRIPT_WORDS_MAX, &size);
    if (!run->words) return CLI_FAILED;
    const ntr_status status = ntr_bus_words(&run->target.bus, (ntr_bytes){(const uint8_t *)run->words, size}, NULL, &line);
    if (status == NTR_OK) return CLI_OK;
    return line ? cli_fail("%s: line %u: expected '# r ADDRESS VALUE' or a word of 8 digits", run->options->words, line)
                : cli_fail("%s: %s", run->options->words, ntr_status_text(status));
}

/* ---- */

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

    if (o->words) return read_words(run);
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
    if (o->run_for && !parse_time(o->run_for, &run->run_ms))
        return cli_fail("--for: expected a time such as 500ms or 10s, found '%s'", o->run_for);
    snprintf(run->how, sizeof run->how, "%s", o->words ? "words of a script" : o->connection.openocd ? "OpenOCD"
                                              : o->connection.gdb ? "GDB server" : o->connection.mem ? "memory" : "helper");
    if (cli_target_topology(&run->target, o->topology) != CLI_OK || open_bus(run) != CLI_OK) return CLI_FAILED;
    if (cli_target_make(&run->target, &o->connection, take_note, run) != CLI_OK) return CLI_FAILED;
    if (configure(run) != CLI_OK) return CLI_FAILED;
    if (o->script) return write_script(run);
    return o->words ? write_bundle(run, o->bundle) : capture_all(run);
}

static int capture_run(const void *options, char **operands) {
    struct capture_run *run = calloc(1, sizeof *run);

    (void)operands;
    if (!run) return cli_fail("out of memory");
    run->options = options;
    cli_target_catch_stop();
    int status = capture_run_all(run);
    cli_target_close(&run->target);
    free(run->words);
    free(run);
    return status;
}

const struct cli_command cli_capture = {
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .groups = groups,
    .size = sizeof(struct capture_options),
    .run = capture_run,
    .about = "Captures a trace with the trace hardware of a board: resets and configures the components of the\n"
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
             "The exit status is 1 if trace was lost, and 2 if nothing was captured. docs/capture.md has examples\n"
             "for OpenOCD, J-Link, probe-rs and Linux on the target.",
    .examples = "  ntrace capture -o x.ntrace -e firmware.elf -t soc.json --openocd localhost:6666 --for 2s\n"
                "  ntrace capture -o x.ntrace -e firmware.elf -t soc.json --gdb localhost:3333 --resume --until-halt\n"
                "  ntrace capture -o x.ntrace -e app.elf -t soc.json --mem /dev/mem --buffer 0x90000000:0x100000 --for 1s\n"
                "  ntrace capture --script openocd -o capture.tcl -t soc.json --for 1s\n"
                "  ntrace capture -o x.ntrace -e firmware.elf -t soc.json --words words.txt",
};
