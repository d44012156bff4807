#include "commands/explore/session.h"
#include "io/memory.h"
#include "io/tasks.h"
#include "options/diagnostics.h"

#include <string.h>
#include <time.h>

uint64_t explore_clock(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- what the explorer asks for */

static ntr_status open_stream(void *user, ntr_stream_reader **out) {
    return cli_replay_stream(&((struct explore_session *)user)->replay, out);
}

static bool proceed(void *user) {
    const struct explore_session *s = user;

    return !cli_progress_stopped() && (!s->deadline || explore_clock() < s->deadline);
}

static bool read_source(void *user, const char *file, ntr_bytes *text) {
    return cli_source_text_read(&((struct explore_session *)user)->source, file, text);
}

static const char *disassemble(void *user, const uint8_t *bytes, size_t size, unsigned isa) {
    return cli_disasm_text(((struct explore_session *)user)->disasm, bytes, size, isa);
}

static const char *source_name(void *user, uint16_t src) {
    const ntr_bundle_source *source = cli_trace_source(&((struct explore_session *)user)->replay.trace, src);

    return source ? source->name : NULL;
}

/* ---- opening */

static const char *title_of(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static int load_tasks(struct explore_session *s, const char *path) {
    if (s->replay.trace.bundle) cli_tasks_load(path, &s->tasks);
    if (s->replay.trace.perf) cli_tasks_of_perf(s->replay.trace.perf, path, &s->tasks);
    if (!s->tasks && cli_maps_tasks(&s->replay.options->images.maps, &s->tasks) != CLI_OK) return CLI_FAILED;
    ntr_functions_set_tasks(s->replay.functions, s->tasks);
    return CLI_OK;
}

static void describe(struct explore_session *s, ntr_explorer_config *config) {
    const ntr_capture_info *capture = s->replay.trace.bundle ? ntr_bundle_capture(s->replay.trace.bundle) : NULL;

    ntr_analysis_init(&s->analysis);
    cli_trace_facts_find(&s->facts, &s->replay.trace, &s->analysis);
    if (capture) config->ticks_per_second = capture->ticks_per_second;
    config->losses = s->analysis.losses;
    config->loss_count = s->analysis.loss_count;
    config->facts = s->analysis.facts;
    config->fact_count = s->analysis.fact_count;
}

static int make_explorer(struct explore_session *s, const char *path) {
    ntr_decoder_config decoder;
    ntr_explorer_config config;
    ntr_status status;

    ntr_decoder_config_init(&decoder);
    decoder.params = s->replay.trace.params;
    decoder.program = s->replay.trace.program;
    ntr_explorer_config_init(&config);
    config.decoder = &decoder;
    config.debug = s->replay.debug;
    config.functions = s->replay.functions;
    config.allocator = &cli_memory;
    config.open = open_stream;
    config.proceed = proceed;
    config.source = read_source;
    config.disassemble = s->disasm ? disassemble : NULL;
    config.source_name = source_name;
    config.user = s;
    config.title = title_of(path);
    config.stream_size = cli_replay_bytes(&s->replay);
    config.by_time = cli_replay_has_common_clock(&s->replay);
    describe(s, &config);
    status = ntr_explorer_new(&config, &s->explorer);
    return s->explorer ? CLI_OK : cli_fail("%s: %s", path, ntr_status_text(status));
}

int explore_session_open(struct explore_session *s, const char *path, const struct explore_options *options) {
    const char *why;

    *s = (struct explore_session){.path = path};
    cli_source_text_search(&s->source, options->source_path);
    if (cli_replay_open_input(&s->replay, path, &options->replay) != CLI_OK) return CLI_FAILED;
    if (load_tasks(s, path) != CLI_OK) return CLI_FAILED;
    cli_source_match_begin(&s->match, s->replay.trace.program, s->replay.debug);
    s->source.match = &s->match;
    s->disasm = cli_disasm_open(&why);
    return make_explorer(s, path);
}

void explore_session_close(struct explore_session *s) {
    ntr_explorer_free(s->explorer);
    cli_disasm_close(s->disasm);
    cli_source_text_release(&s->source);
    cli_source_match_report(&s->match);
    cli_source_match_release(&s->match);
    cli_replay_close(&s->replay);
    ntr_tasks_free(s->tasks);
    cli_trace_facts_release(&s->facts);
}

int explore_session_index(struct explore_session *s) {
    struct cli_progress progress;
    ntr_status status;

    cli_progress_begin(&progress, s->replay.stream_path, cli_replay_bytes(&s->replay));
    while ((status = ntr_explorer_work(s->explorer)) == NTR_END && !cli_progress_stopped())
        cli_progress_step(&progress, ntr_explorer_progress(s->explorer).bytes);
    cli_progress_end(&progress);
    if (status == NTR_END) return cli_fail("%s: interrupted", s->replay.stream_path);
    return status < 0 ? cli_fail("%s: %s", s->replay.stream_path, ntr_status_text(status)) : CLI_OK;
}
