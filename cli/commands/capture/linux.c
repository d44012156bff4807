/* A capture on the target with the kernel's own files, without JTAG and without perf. */
#include "commands/capture/linux.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_LINUX_NS = 5000000, LEAST_BYTES = 16, BUSY_BYTES_IN_MS = 700000 };

static void stop_sources(struct linux_run *run) {
    for (size_t i = 0; i < run->devices.encoder_count; i++)
        if (run->devices.encoders[i].chosen)
            linux_write(&run->devices, run->devices.encoders[i].name, "enable_source", "0");
}

/* The mappings of a process are there until it ends; trace of its end is not wanted at the price of the buffer. */
static void before_end(void *user, pid_t pid) {
    struct linux_run *run = user;

    if (pid == run->process.pid) stop_sources(run);
    linux_keep_maps(run, pid);
}

/* ---- choice of devices */

static int choose_sink(struct linux_run *run) {
    const struct linux_devices *d = &run->devices;
    const char *wanted = run->options->sink, *first = NULL;

    for (size_t i = 0; i < d->sink_count; i++) {
        const char *name = d->sinks[i].name;
        if (wanted ? strcmp(name, wanted) == 0 : !first || (strstr(name, "etr") && !strstr(first, "etr"))) first = name;
    }
    if (!first)
        return cli_fail("--sink: expected a device with enable_sink such as %s, found '%s'", d->sinks[0].name, wanted);
    run->sink = first;
    for (size_t i = 0; i < d->sink_count; i++)
        if (d->sinks[i].enabled && !run->options->read_only && strcmp(d->sinks[i].name, first) != 0)
            return cli_fail("%s is enabled as sink, before %s would be: --sink %s, or echo 0 > its enable_sink",
                            d->sinks[i].name, first, d->sinks[i].name);
    return CLI_OK;
}

static struct linux_encoder *encoder_of(struct linux_devices *d, unsigned cpu) {
    for (size_t i = 0; i < d->encoder_count; i++)
        if (d->encoders[i].cpu == cpu) return &d->encoders[i];
    return NULL;
}

/* Which encoders: --hart, --all, or for a program the last one whose CPU is online. */
static int choose_encoders(struct linux_run *run) {
    struct linux_devices *d = &run->devices;
    const struct cli_list *harts = &run->options->harts;
    static unsigned numbers[CLI_HARTS_MAX];
    size_t chosen = 0;

    if (!d->encoder_count) return cli_fail("no device has a file enable_source: expected CONFIG_RVTRACE_ENCODER=y");
    if (cli_harts_parse(harts, numbers) != CLI_OK) return CLI_FAILED;
    for (size_t i = 0; i < harts->count; i++) {
        struct linux_encoder *one = encoder_of(d, numbers[i]);
        if (!one) return cli_fail("--hart %u: no encoder traces this CPU", numbers[i]);
        if (!one->online) return linux_explain(d, one->name, "enable_source", "1", ENXIO);
        one->chosen = true;
    }
    for (size_t i = d->encoder_count; i-- > 0 && !harts->count;) {
        if (!d->encoders[i].online) continue;
        if (!run->options->all && (!run->command || chosen)) continue;
        d->encoders[i].chosen = true;
        chosen++;
    }
    if (!harts->count && !chosen) return cli_fail("expected --hart N or --all, or a program to trace");
    for (size_t i = 0; i < d->encoder_count; i++)
        if (d->encoders[i].chosen && d->encoders[i].enabled)
            return cli_fail("%s traces already; --read-only reads what is there", d->encoders[i].name);
    return CLI_OK;
}

static void warn(struct linux_run *run, uint64_t buffer) {
    char path[PATH_MAX], text[64] = "";
    size_t harts = 0;

    for (size_t i = 0; i < run->devices.encoder_count; i++) harts += run->devices.encoders[i].chosen;
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpuidle/current_driver", run->devices.root);
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file)) text[strcspn(text, "\n")] = 0;
    if (file) fclose(file);
    if (*text && strcmp(text, "none") != 0)
        cli_note("CPU idle is on (%s): an encoder loses its registers when its core sleeps; boot with cpuidle.off=1",
                 text);
    if (buffer && buffer < harts * BUSY_BYTES_IN_MS)
        cli_note("the buffer of %" PRIu64
                 " bytes may hold less than the last millisecond of %zu busy harts (about %d bytes each); "
                 "--buffer SIZE gives more",
                 buffer, harts, BUSY_BYTES_IN_MS);
}

/* ---- the capture */

static int save_all(struct linux_run *run) {
    struct linux_devices *d = &run->devices;

    for (size_t i = 0; i < d->encoder_count; i++)
        if (d->encoders[i].chosen && linux_save(d, d->encoders[i].name, "enable_source") != CLI_OK) return CLI_FAILED;
    if (linux_save(d, run->sink, "enable_sink") != CLI_OK) return CLI_FAILED;
    if (run->options->buffers.count && linux_save(d, run->sink, "buffer_size") != CLI_OK) return CLI_FAILED;
    return linux_keep(d);
}

static int put(struct linux_run *run, const char *device, const char *file, const char *text) {
    const int why = linux_write(&run->devices, device, file, text);
    return why ? linux_explain(&run->devices, device, file, text, why) : CLI_OK;
}

static int set_buffer(struct linux_run *run) {
    const struct cli_list *buffers = &run->options->buffers;
    uint64_t size = 0;
    char text[32];

    if (!buffers->count) {
        linux_read_number(&run->devices, run->sink, "buffer_size", &size);
    } else {
        if (buffers->count > 1 || !cli_parse_number(buffers->items[0].value, &size) || !size)
            return cli_fail("--buffer: with --linux, expected a size in bytes, found '%s'", buffers->items[0].value);
        snprintf(text, sizeof text, "0x%" PRIx64, size);
        if (put(run, run->sink, "buffer_size", text) != CLI_OK) return CLI_FAILED;
    }
    warn(run, size);
    return CLI_OK;
}

static int enable_all(struct linux_run *run) {
    const struct linux_devices *d = &run->devices;

    if (set_buffer(run) != CLI_OK || put(run, run->sink, "enable_sink", "1") != CLI_OK) return CLI_FAILED;
    for (size_t i = 0; i < d->encoder_count; i++)
        if (d->encoders[i].chosen && put(run, d->encoders[i].name, "enable_source", "1") != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

static uint64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * MS_IN_S + (uint64_t)time.tv_nsec / 1000000;
}

static void wait_for_end(struct linux_run *run) {
    const uint64_t started = now_ms();

    while (!cli_progress_stopped()) {
        if (run->command && !traced_poll(&run->process)) return;
        if (run->run_ms && now_ms() - started >= run->run_ms) return;
        nanosleep(&(struct timespec){0, POLL_LINUX_NS}, NULL);
    }
}

static int start_program(struct linux_run *run) {
    unsigned cpus[LINUX_ENCODERS];
    size_t count = 0;

    if (!run->command) return CLI_OK;
    for (size_t i = 0; i < run->devices.encoder_count && !run->options->all; i++)
        if (run->devices.encoders[i].chosen) cpus[count++] = run->devices.encoders[i].cpu;
    run->process.before_end = before_end;
    run->process.user = run;
    return traced_start(&run->process, run->command, cpus, count);
}

static int read_trace(struct linux_run *run) {
    char path[LINUX_NAME + 8];

    snprintf(path, sizeof path, "/dev/%s", run->sink);
    run->frames = linux_read_file(run->devices.root, path, &run->frames_size);
    return run->frames ? CLI_OK : CLI_FAILED;
}

static int trace(struct linux_run *run) {
    int status = start_program(run);

    if (status == CLI_OK) status = enable_all(run);
    if (status == CLI_OK && run->command) status = traced_continue(&run->process);
    if (status == CLI_OK) wait_for_end(run);
    stop_sources(run);
    if (status == CLI_OK && run->command && !run->process.ended) linux_keep_maps(run, run->process.pid);
    if (status == CLI_OK) status = read_trace(run);
    const int restored = linux_restore(&run->devices);
    traced_leave(&run->process);
    return status == CLI_OK ? restored : status;
}

/* ---- perf */

static int record_with_perf(const struct linux_run *run) {
    const struct capture_options *o = run->options;
    char event[LINUX_NAME + 16], cpus[16 * LINUX_ENCODERS] = "";
    char *arguments[512] = {"perf", "record", "-e", event, "-o", (char *)(uintptr_t)o->bundle};
    size_t count = 6;

    snprintf(event, sizeof event, "rvtrace/@%s/", run->sink);
    for (size_t i = 0; i < o->harts.count; i++) {
        const size_t used = strlen(cpus);
        snprintf(cpus + used, sizeof cpus - used, "%s%s", i ? "," : "", o->harts.items[i].value);
    }
    if (o->harts.count) {
        arguments[count++] = "-C";
        arguments[count++] = cpus;
    } else {
        arguments[count++] = o->all ? "-a" : "--per-thread";
    }
    arguments[count++] = "--";
    for (size_t i = 0; run->command[i] && count + 1 < sizeof arguments / sizeof arguments[0]; i++)
        arguments[count++] = run->command[i];
    execvp("perf", arguments);
    return cli_fail(
        "perf: %s: expected a perf with support for rvtrace in PATH; without --perf, the kernel's files are used",
        strerror(errno));
}

/* ---- */

static int run_linux(struct linux_run *run) {
    const struct capture_options *o = run->options;

    if (!o->bundle) return cli_fail("expected -o %s", o->perf ? "PERF.DATA" : "BUNDLE");
    if (o->read_only && (run->command || o->harts.count || o->all || o->buffers.count || o->perf))
        return cli_fail("--read-only takes neither a program nor --hart, --all, --buffer, --perf");
    if (o->topology || cli_connection_given(&o->connection) || o->script || o->words)
        return cli_fail("--linux uses no topology and no connection");
    if (o->run_for && !capture_time(o->run_for, &run->run_ms))
        return cli_fail("--for: expected a time such as 500ms or 10s, found '%s'", o->run_for);
    if (linux_devices_find(&run->devices, o->root) != CLI_OK || choose_sink(run) != CLI_OK) return CLI_FAILED;
    if (o->perf && !run->command) return cli_fail("--perf: expected -- PROGRAM");
    if (o->perf) return record_with_perf(run);
    if (capture_bundle_check(o->bundle, &o->images) != CLI_OK) return CLI_FAILED;
    int status = o->read_only ? CLI_OK : choose_encoders(run);
    if (status == CLI_OK) status = o->read_only ? read_trace(run) : save_all(run);
    if (status == CLI_OK && !o->read_only) status = trace(run);
    if (status == CLI_FAILED) return status;
    if (run->frames_size < LEAST_BYTES)
        return cli_fail("/dev/%s is empty: nothing was stored; did the program run on a CPU that is traced?",
                        run->sink);
    const int written = linux_write_bundle(run);
    return written > status ? written : status;
}

int capture_linux(const struct capture_options *options, char **operands) {
    struct linux_run *run = calloc(1, sizeof *run);

    if (!run) return cli_fail("out of memory");
    run->options = options;
    run->command = operands[0] ? operands : NULL;
    run->devices.keeper = -1;
    int status = run_linux(run);
    const int restored = linux_restore(&run->devices);
    if (status == CLI_OK) status = restored;
    traced_leave(&run->process);
    for (size_t i = 0; i < run->map_count; i++) {
        free(run->maps[i].text);
        free(run->maps[i].vdso_bytes);
    }
    free(run->frames);
    free(run);
    return status;
}
