/* A session: the source of executed blocks, the process that fills it, the harts that encode it, and the bundle. */
#include "base/allocator.h"
#include "base/config.h"
#include "capture/bundle.h"
#include "capture/guest.h"
#include "capture/harts.h"

#include <ntrace/capture.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct ntr_capture_session {
    ntr_allocator allocator_copy;
    ntr_capture_config config;
    ntr_encoder_config encoder;
    struct ntr_capture_elf elf;
    struct ntr_capture_source source;
    struct ntr_capture_guest guest;
    struct ntr_capture_harts harts;
    struct ntr_capture_system *system; /* NULL: none */
    struct ntr_capture_losses losses;
    struct ntr_capture_reason reason;
    struct ntr_capture_record record;
    bool started, finished;
    struct ntr_bundle_writer stream;
};

/* ---- life ---------------------------------------------------------------------------------------------------------
 */

ntr_capture_session *ntr_capture_new(const ntr_capture_config *config) {
    ntr_capture_config loaded;

    if (ntr_config_load(&loaded, sizeof loaded, config) != NTR_OK) return NULL;
    ntr_capture_session *session = ntr_alloc(loaded.allocator, 1, sizeof *session);
    if (!session) return NULL;
    session->config = loaded;
    session->stream.fd = -1;
    if (loaded.allocator) {
        session->allocator_copy = *loaded.allocator;
        session->config.allocator = &session->allocator_copy;
    }
    return session;
}

void ntr_capture_free(ntr_capture_session *session) {
    if (!session) return;
    ntr_allocator copy = session->allocator_copy;
    const ntr_allocator *allocator = session->config.allocator ? &copy : NULL;

    ntr_capture_guest_kill(&session->guest);
    ntr_capture_guest_reap(&session->guest);
    if (session->harts.channel) ntr_capture_harts_release(&session->harts);
    ntr_capture_source_close(&session->source);
    ntr_capture_system_free(session->system);
    ntr_bundle *bundle = session->record.bundle;
    ntr_capture_record_release(&session->record);
    ntr_bundle_free(bundle);
    ntr_bundle_writer_release(&session->stream, session->config.allocator);
    ntr_dealloc(allocator, session);
}

const char *ntr_capture_error(const ntr_capture_session *session) {
    return session->reason.text;
}

/* ---- start --------------------------------------------------------------------------------------------------------
 */

static ntr_status inspect(ntr_capture_session *session) {
    const char *path = session->config.command[0];

    if (!ntr_capture_elf_read(path, &session->elf))
        return ntr_capture_fail(&session->reason, errno ? NTR_E_IO : NTR_E_FORMAT, "%s: %s", path,
                                errno ? strerror(errno) : "expected a RISC-V ELF program");
    if (!session->elf.is_riscv)
        return ntr_capture_fail(&session->reason, NTR_E_FORMAT,
                                "%s: expected a RISC-V program, found one for another machine", path);
    return NTR_OK;
}

static ntr_status configure(ntr_capture_session *session) {
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

static const char *stream_name(const ntr_capture_session *session) {
    return session->config.compress ? "trace.nex.zst" : "trace.nex";
}

static ntr_status open_stream(ntr_capture_session *session) {
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(session->record.bundle), stream_name(session));
    ntr_status status =
        ntr_bundle_writer_open(&session->stream, path, session->config.compress, session->config.allocator);
    if (status == NTR_E_IO) return ntr_capture_fail_errno(&session->reason, path);
    if (status == NTR_E_UNSUPPORTED)
        return ntr_capture_fail(&session->reason, status, "this build has no zstd: the stream cannot be compressed");
    return status == NTR_OK ? status : ntr_capture_fail_memory(&session->reason);
}

static ntr_status create_bundle(ntr_capture_session *session) {
    const ntr_allocator *allocator = session->config.allocator;
    struct ntr_capture_record *record = &session->record;

    *record = (struct ntr_capture_record){.allocator = allocator, .reason = &session->reason, .xlen = session->elf.xlen};
    record->bundle = ntr_bundle_new(allocator);
    record->program = ntr_program_new(allocator);
    if (!record->bundle || !record->program) return ntr_capture_fail_memory(&session->reason);
    ntr_status status = ntr_bundle_create(record->bundle, session->config.bundle);
    return status == NTR_OK ? open_stream(session) : ntr_capture_record_fail(record, status);
}

static ntr_status open_source(ntr_capture_session *session) {
    ntr_status status = ntr_capture_source_open(&session->source, &session->reason);

    if (status != NTR_OK) return status;
    const struct ntr_capture_target target = {session->source.channel, &session->encoder, &session->stream,
                                              session->system};
    status = ntr_capture_harts_init(&session->harts, &target, session->config.allocator);
    return status == NTR_OK ? status : ntr_capture_fail_memory(&session->reason);
}

ntr_status ntr_capture_start(ntr_capture_session *session) {
    const ntr_capture_config *config = &session->config;

    if (session->started) return ntr_capture_fail(&session->reason, NTR_E_STATE, "the capture was started before");
    if (!config->command || !config->command[0] || !config->bundle)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "a capture needs a program and a bundle");
    session->started = true;
    ntr_status status = inspect(session);
    if (status == NTR_OK) status = configure(session);
    if (status == NTR_OK) status = create_bundle(session);
    if (status == NTR_OK) status = open_source(session);
    if (status == NTR_OK)
        status =
            ntr_capture_guest_start(&session->guest, config, &session->elf, session->source.file, &session->reason);
    return status;
}

int ntr_capture_process(const ntr_capture_session *session) {
    return (int)session->guest.pid;
}

/* ---- while the program runs ---------------------------------------------------------------------------------------
 */

/* While complete batches arrive, later words are not read: reading words that the plugin is writing moves cache
 * lines between the processors. */
ntr_status ntr_capture_step(ntr_capture_session *session) {
    const struct timespec nap = {.tv_nsec = 200000};
    struct ntr_capture_harts *harts = &session->harts;

    if (!session->guest.pid) return ntr_capture_fail(&session->reason, NTR_E_STATE, "no program runs");
    if (session->guest.ended) return NTR_OK;
    if (ntr_capture_harts_drain(harts, false)) return NTR_NEED_MORE;
    nanosleep(&nap, NULL);
    if (ntr_capture_harts_drain(harts, false)) return NTR_NEED_MORE;
    if (!ntr_capture_harts_drain(harts, true)) ntr_capture_harts_poll(harts);
    if (harts->failure != NTR_OK) ntr_capture_guest_kill(&session->guest); /* it would wait for its reader */
    ntr_capture_guest_poll(&session->guest);
    return session->guest.ended ? NTR_OK : NTR_NEED_MORE;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* Is this a signal that an instruction raises? */
static bool is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

static ntr_status close_stream(ntr_capture_session *session) {
    char name[PATH_MAX];

    ntr_status status = ntr_bundle_writer_close(&session->stream);
    if (status == NTR_OK) return status;
    snprintf(name, sizeof name, "%s/%s", ntr_bundle_folder(session->record.bundle), stream_name(session));
    return ntr_capture_fail_errno(&session->reason, name);
}

static ntr_status check(ntr_capture_session *session) {
    ntr_status failure = session->harts.failure;

    if (!atomic_load(&session->source.channel->head.attached))
        return ntr_capture_fail(&session->reason, NTR_E_FORMAT, "QEMU ended without the capture plugin");
    if (failure == NTR_OK || *session->reason.text) return failure; /* the modelled system gave its reason */
    return ntr_capture_fail(&session->reason, failure, "encoding failed: %s", ntr_status_text(failure));
}

ntr_status ntr_capture_finish(ntr_capture_session *session) {
    struct ntr_capture_harts *harts = &session->harts;

    if (!session->guest.ended || session->finished)
        return ntr_capture_fail(&session->reason, NTR_E_STATE, "the program has not ended");
    session->finished = true;
    while (ntr_capture_harts_drain(harts, true)) continue;
    ntr_capture_guest_reap(&session->guest);
    ntr_capture_harts_finish(harts, is_fault(session->guest.signal));
    ntr_status status = session->system ? ntr_capture_system_finish(session->system) : NTR_OK;
    ntr_status closed = close_stream(session);
    if (status == NTR_OK) status = closed;
    if (status == NTR_OK) status = check(session);
    if (status != NTR_OK) return status;
    if (!ntr_capture_code_finish(&harts->code)) return ntr_capture_fail_memory(&session->reason);
    const struct ntr_capture_report report = {&session->config, harts, &session->guest, stream_name(session)};
    return ntr_capture_bundle_finish(&session->record, &report, &session->losses);
}

int ntr_capture_exit_status(const ntr_capture_session *session) {
    return session->guest.status;
}

const char *ntr_capture_loss(const ntr_capture_session *session, size_t index) {
    return index < session->losses.count ? session->losses.items[index].what : NULL;
}
