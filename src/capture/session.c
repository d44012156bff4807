#include "capture/session.h"
#include "base/allocator.h"
#include "base/config.h"
#include "capture/blocks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void ntr_capture_session_release(struct ntr_capture_session *session) {
    ntr_bundle *bundle = session->record.bundle;

    ntr_capture_guest_kill(&session->guest);
    ntr_capture_guest_reap(&session->guest);
    if (session->harts.channel) ntr_capture_harts_release(&session->harts);
    if (session->source.channel) atomic_store(&session->source.channel->head.given_up, 1);
    ntr_capture_source_close(&session->source);
    ntr_capture_system_free(session->system);
    ntr_capture_record_release(&session->record);
    ntr_bundle_free(bundle);
    ntr_bundle_writer_release(&session->stream, session->config.allocator);
    ntr_dealloc(session->config.allocator, session->command);
}

ntr_status ntr_capture_session_configure(struct ntr_capture_session *session) {
    const ntr_capture_config *config = &session->config;
    ntr_encoder_config *encoder = &session->encoder;

    ntr_encoder_config_init(encoder);
    if (config->topology.size)
        return ntr_capture_system_new(&session->system, config, session->elf.xlen, &session->stream, encoder,
                                      &session->reason);
    encoder->params.src_bits = 8;
    if (config->encoder && ntr_config_load(encoder, sizeof *encoder, config->encoder) != NTR_OK)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "the configuration of the encoder has no size");
    encoder->allocator = config->allocator;
    encoder->sink = ntr_bundle_writer_put;
    encoder->sink_user = &session->stream;
    encoder->params.xlen = (uint8_t)session->elf.xlen;
    return NTR_OK;
}

static const char *stream_name(const struct ntr_capture_session *session) {
    return session->config.compress ? "trace.nex.zst" : "trace.nex";
}

static void stream_path(const struct ntr_capture_session *session, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", ntr_bundle_folder(session->record.bundle), stream_name(session));
}

static ntr_status open_stream(struct ntr_capture_session *session) {
    char path[PATH_MAX];

    stream_path(session, path);
    session->ring.limit = session->config.max_size;
    ntr_status status =
        ntr_bundle_writer_open(&session->stream, path, session->config.compress, session->config.allocator);
    if (status == NTR_E_IO) return ntr_capture_fail_errno(&session->reason, path);
    if (status == NTR_E_UNSUPPORTED)
        return ntr_capture_fail(&session->reason, status, "this build has no zstd: the stream cannot be compressed");
    return status == NTR_OK ? status : ntr_capture_fail_memory(&session->reason);
}

ntr_status ntr_capture_session_create(struct ntr_capture_session *session) {
    const ntr_allocator *allocator = session->config.allocator;
    struct ntr_capture_record *record = &session->record;

    record->allocator = allocator;
    record->reason = &session->reason;
    record->xlen = session->elf.xlen;
    record->bundle = ntr_bundle_new(allocator);
    record->program = ntr_program_new(allocator);
    if (!record->bundle || !record->program) return ntr_capture_fail_memory(&session->reason);
    ntr_status status = ntr_bundle_create(record->bundle, session->config.bundle);
    return status == NTR_OK ? open_stream(session) : ntr_capture_record_fail(record, status);
}

/* ---- which part of the execution is traced ------------------------------------------------------------------------
 */

static bool find_symbol(void *user, const char *name, uint64_t *address) {
    struct ntr_capture_session *session = user;
    const struct channel *channel = session->source.channel;
    ntr_symbol symbol;

    ntr_capture_record_files(&session->record, channel->maps, (size_t)atomic_load(&channel->head.maps));
    *session->reason.text = 0; /* a file that cannot be copied is reported at the end */
    if (ntr_program_find(session->record.program, name, &symbol) != NTR_OK) return false;
    *address = symbol.address;
    return true;
}

static struct ntr_capture_place place_of(const char *text) {
    struct ntr_capture_place place = {.given = text, .name = text};
    char *end;

    if (!text || *text < '0' || *text > '9') return place;
    place.address = strtoull(text, &end, 0);
    place.address_known = *end == 0;
    return place;
}

/* `before`: the window of the program that was replaced, or NULL. */
static void set_window(struct ntr_capture_session *session, const struct ntr_capture_window *before) {
    const ntr_capture_config *config = &session->config;
    struct ntr_capture_window *window = &session->harts.window;
    bool waits = config->start_at || config->skip;

    *window = (struct ntr_capture_window){
        .state = before ? before->state : waits ? NTR_CAPTURE_WINDOW_WAITS : NTR_CAPTURE_WINDOW_OPEN,
        .skip = before ? before->skip : config->skip,
        .start = place_of(config->start_at),
        .stop = place_of(config->stop_at),
        .find = find_symbol,
        .user = session,
    };
}

ntr_status ntr_capture_session_attach(struct ntr_capture_session *session) {
    const struct ntr_capture_target target = {session->source.channel, &session->encoder, &session->stream,
                                              session->system};
    const struct ntr_capture_window window = session->harts.window;
    bool again = session->past.programs != 0;
    ntr_status status = ntr_capture_harts_init(&session->harts, &target, session->config.allocator);
    set_window(session, again ? &window : NULL);
    session->harts.pause_at = ntr_capture_ring_end(&session->ring, &session->stream);
    return status == NTR_OK ? status : ntr_capture_fail_memory(&session->reason);
}

uint64_t ntr_capture_session_instructions(const struct ntr_capture_session *session) {
    uint64_t sum = 0;
    for (uint32_t i = 0; session->harts.harts && i < CHANNEL_LANES; i++) sum += session->harts.harts[i].time;
    return sum;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* Is this a signal that an instruction raises? */
static bool is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

static ntr_status close_stream(struct ntr_capture_session *session) {
    char name[PATH_MAX];

    stream_path(session, name);
    ntr_status status = ntr_bundle_writer_close(&session->stream);
    if (status == NTR_OK) return ntr_capture_ring_join(&session->ring, name, &session->reason);
    return ntr_capture_fail_errno(&session->reason, name);
}

static ntr_status check(struct ntr_capture_session *session) {
    ntr_status failure = session->harts.failure;

    if (!session->past.programs && atomic_load(&session->source.channel->head.state) == CHANNEL_NEW)
        return ntr_capture_fail(&session->reason, NTR_E_FORMAT, "QEMU ended without the capture plugin");
    if (failure == NTR_OK || *session->reason.text) return failure; /* the modelled system gave its reason */
    return ntr_capture_fail(&session->reason, failure, "encoding failed: %s", ntr_status_text(failure));
}

static struct ntr_capture_report report_of(const struct ntr_capture_session *session, const char *missing) {
    return (struct ntr_capture_report){
        .config = &session->config,
        .harts = &session->harts,
        .guest = &session->guest,
        .past = &session->past,
        .stream = stream_name(session),
        .command = session->command ? session->command : (const char **)(uintptr_t)session->config.command,
        .process = session->config.follow_fork ? session->process : NULL,
        .missing = missing,
        .dropped = missing ? session->ring.begin : session->ring.dropped,
        .adopted = session->adopted,
    };
}

/* ---- while the program runs: what there is can be read if this process is killed ----------------------------------
 */

uint64_t ntr_capture_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The last capture.json refers to the file of the present segment. */
static void cut(struct ntr_capture_session *session) {
    const ntr_capture_config *config = &session->config;
    char path[PATH_MAX];

    if (session->harts.failure != NTR_OK || !ntr_capture_ring_is_full(&session->ring, &session->stream)) return;
    stream_path(session, path);
    ntr_capture_stop_all(&session->harts);
    ntr_capture_note(&session->harts, ntr_capture_ring_cut(&session->ring, &session->stream, path, config->compress,
                                                          config->allocator, &session->reason));
    session->harts.pause_at = ntr_capture_ring_end(&session->ring, &session->stream);
}

void ntr_capture_session_drain(struct ntr_capture_session *session) {
    while (ntr_capture_harts_drain(&session->harts, true)) cut(session);
}

void ntr_capture_session_save(struct ntr_capture_session *session) {
    enum { FIRST = 200000000, EVERY = 2000000000 };
    uint64_t now = ntr_capture_clock();

    if (!session->source.channel) return;
    if (session->stream.error) ntr_capture_note(&session->harts, NTR_E_IO);
    cut(session);
    const struct channel_head *head = &session->source.channel->head;
    if (!session->saved_at) session->saved_at = now;
    if (session->system || now - session->saved_at < (session->saved_size ? EVERY : FIRST)) return;
    if (atomic_load(&head->state) != CHANNEL_ATTACHED || !atomic_load(&head->maps) || session->stream.error ||
        session->saved_size == session->stream.offset)
        return;
    const struct ntr_capture_report report =
        report_of(session, "ntrace run ended before the program; the end of the trace is missing");
    ntr_bundle_writer_save(&session->stream);
    ntr_capture_bundle_save(&session->record, &report, &session->harts.code);
    *session->reason.text = 0;
    session->saved_at = ntr_capture_clock();
    session->saved_size = session->stream.offset;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* The bundle cannot be completed. What has been written is kept if it can be described; a part of the stream gives the
 * room for that on a full disk. */
static ntr_status salvage(struct ntr_capture_session *session, ntr_status status) {
    enum { SPARE = 1 << 18 };
    struct ntr_capture_reason reason = session->reason;
    char path[PATH_MAX];
    struct stat about;

    stream_path(session, path);
    if (session->stream.error && !session->config.compress && stat(path, &about) == 0 &&
        truncate(path, about.st_size > 2 * SPARE ? about.st_size - SPARE : about.st_size / 2) == 0 && session->saved_size) {
        const struct ntr_capture_report report =
            report_of(session, "the stream could not be written to its end; the end of the trace is missing");
        ntr_capture_bundle_save(&session->record, &report, &session->harts.code);
    }
    bool kept = ntr_bundle_keep(session->record.bundle) == NTR_OK;
    return ntr_capture_fail(&session->reason, status, "%s%s%s", reason.text,
                            kept ? "; what was written before is in " : "", kept ? session->config.bundle : "");
}

static ntr_status complete(struct ntr_capture_session *session) {
    struct ntr_capture_harts *harts = &session->harts;

    ntr_capture_session_drain(session);
    ntr_capture_guest_reap(&session->guest);
    ntr_capture_harts_finish(harts, is_fault(session->guest.signal));
    ntr_status status = session->system ? ntr_capture_system_finish(session->system) : NTR_OK;
    ntr_status closed = close_stream(session);
    if (status == NTR_OK) status = closed;
    if (status == NTR_OK) status = check(session);
    if (status != NTR_OK) return status;
    if (!ntr_capture_code_finish(&harts->code)) return ntr_capture_fail_memory(&session->reason);
    const struct ntr_capture_report report = report_of(session, NULL);
    return ntr_capture_bundle_finish(&session->record, &report, &session->losses);
}

ntr_status ntr_capture_session_finish(struct ntr_capture_session *session) {
    session->finished = true;
    ntr_status status = complete(session);
    return status == NTR_OK ? status : salvage(session, status);
}
