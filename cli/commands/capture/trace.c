#include "commands/capture/run.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 100, PAUSE_NANOSECONDS = 1000000, PATH_BYTES = 4096 };

void capture_take_note(void *user, const char *sentence) {
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
    fprintf(stderr,
            "%" PRIu64 ".%" PRIu64 " s: %" PRIu64 " of %" PRIu64 " bytes%s%s, %u of %u encoders trace%s\033[K\r",
            elapsed / MS_IN_S, elapsed % MS_IN_S / 100, state->stored, state->capacity,
            state->wrapped ? ", wrapped" : "", state->lost ? ", trace lost" : "", state->tracing, state->encoders,
            !state->halt_known ? ""
            : state->halted    ? ", hart halted"
                               : "");
}

static bool has_ended(const struct capture_run *run, uint64_t elapsed) {
    const struct capture_options *o = run->options;
    const ntr_target_state *state = &run->state;

    if (cli_progress_stopped() || (run->run_ms && elapsed >= run->run_ms)) return true;
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
    return cli_fail("--%s: %s", option,
                    status == NTR_E_UNSUPPORTED ? "this connection controls no hart" : bus->error(bus->user));
}

/* A connection that fails while trace runs: what was traced until then is kept, if it can be read. */
static int end_early(struct capture_run *run) {
    char text[CAPTURE_LOSS_TEXT];

    if (run->options->resume)
        snprintf(text, sizeof text, "the trace ends early, and the state of the hart is not known: ");
    else
        snprintf(text, sizeof text, "the trace ends early: ");
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

int capture_write_bundle(struct capture_run *run, const char *path) {
    const struct capture_bundle bundle = {.path = path,
                                          .target = run->target.target,
                                          .bus = &run->target.bus,
                                          .sink = run->sink,
                                          .images = &run->options->images,
                                          .how = run->how,
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
    run->wanted++;
    const int written = capture_write_bundle(run, path);
    return written > status ? written : status;
}

/* BUNDLE.ntrace becomes BUNDLE.N.ntrace. */
static void number_path(const char *path, int64_t number, char *out, size_t size) {
    static const char suffix[] = ".ntrace";
    const size_t length = strlen(path), tail = sizeof suffix - 1;
    const bool has = length > tail && strcmp(path + length - tail, suffix) == 0;

    snprintf(out, size, "%.*s.%" PRId64 "%s", (int)(has ? length - tail : length), path, number, suffix);
}

static const char *path_of(const struct capture_run *run, int64_t number, char out[PATH_BYTES]) {
    const struct capture_options *o = run->options;

    if (!o->bundle || o->loop == 1) return o->bundle;
    number_path(o->bundle, number, out, PATH_BYTES);
    return out;
}

int capture_check_files(const struct capture_run *run) {
    char path[PATH_BYTES];

    return run->options->bundle ? capture_bundle_check(path_of(run, 1, path), &run->options->images) : CLI_OK;
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
    return cli_fail("--%s: %s", option,
                    status == NTR_E_UNSUPPORTED ? "this connection controls no hart" : bus->error(bus->user));
}

int capture_all(struct capture_run *run) {
    static const char *const ends[] = {[WHEN_ALWAYS] = "",
                                       [WHEN_FULL] = "with a full buffer",
                                       [WHEN_HALT] = "with a halted hart",
                                       [WHEN_TRIGGER] = "by a trigger",
                                       [WHEN_LOST] = "with trace lost"};
    const struct capture_options *o = run->options;
    int status = need_hart(run);

    if (status != CLI_OK) return status;
    if (o->restore && ntr_target_save(run->target.target) != NTR_OK)
        return cli_fail("%s", ntr_target_error(run->target.target));
    for (int64_t i = 1; i <= o->loop && status != CLI_FAILED && !(i > 1 && cli_progress_stopped()); i++) {
        char path[PATH_BYTES];
        const int one = capture_once(run, path_of(run, i, path));
        if (one > status) status = one;
    }
    if (!run->wanted && !run->leaves && status != CLI_FAILED)
        status = cli_fail("no capture ended %s (--when); no bundle was written", ends[o->when]);
    if (ntr_target_release(run->target.target) != NTR_OK) {
        cli_note("%s", ntr_target_error(run->target.target));
        if (status == CLI_OK) status = CLI_DEFECTS;
    }
    if (o->restore && ntr_target_restore(run->target.target) != NTR_OK)
        status = cli_fail("the registers were not restored: %s", ntr_target_error(run->target.target));
    return status;
}
