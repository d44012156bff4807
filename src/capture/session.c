#include "capture/qemu.h"
#include "capture/session.h"
#include "bundle/zstd.h"
#include "base/allocator.h"
#include "base/config.h"
#include "base/text.h"
#include "wire/mdo.h"
#include "capture/blocks.h"
#include "capture/mapped.h"
#include "capture/spaces.h"
#include "capture/window.h"
#include "program/program.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_MAX = 8 }; /* a synchronizing message every 2^12 messages: parallel and random access */

void ntr_capture_session_release(struct ntr_capture *session) {
    ntr_bundle *bundle = session->record.bundle;

    ntr_capture_guest_kill(&session->guest);
    ntr_capture_guest_reap(&session->guest);
    if (session->harts.channel) ntr_capture_harts_release(&session->harts);
    if (session->source.channel) atomic_store(&session->source.channel->head.given_up, 1);
    ntr_capture_source_close(&session->source);
    if (session->machine.name && session->log > 0) close(session->log);
    if (session->machine.name && session->firmware > 0) close(session->firmware);
    ntr_capture_system_free(session->system);
    ntr_capture_record_release(&session->record);
    ntr_bundle_free(bundle);
    ntr_bundle_writer_release(&session->stream, session->config.allocator);
    ntr_dealloc(session->config.allocator, session->command);
}

void ntr_capture_encoder_defaults(ntr_encoder_config *config, size_t size) {
    ntr_encoder_config_defaults(config, size);
    config->params.implicit_return = NTR_RETURN_FULL;
    config->early_returns = true;
    config->params.sequential_jump = true;
    config->repeated_history = true;
    config->history_repeats = NTR_REPEATS_QUICK;
    config->sync_mode = NTR_SYNC_MODE_MESSAGES;
    config->sync_max = SYNC_MAX;
}

ntr_status ntr_capture_session_configure(struct ntr_capture *session) {
    const ntr_capture_config *config = &session->config;
    ntr_encoder_config *encoder = &session->encoder;

    session->compresses = config->compress;
    ntr_encoder_config_init(encoder);
    if (config->topology.size)
        return ntr_capture_system_new(&session->system, config, session->elf.xlen, &session->stream, encoder,
                                      &session->reason);
    ntr_capture_encoder_defaults(encoder, sizeof *encoder);
    if (config->machine) encoder->ownership = NTR_OWNERSHIP_VIRTUAL;
    if (config->encoder && ntr_config_load(encoder, sizeof *encoder, config->encoder) != NTR_OK)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "the configuration of the encoder has no size");
    /* The harts of a machine are known; the tasks and pages that are noted have offsets in the stream, which stay. */
    if (session->machine.harts > 1 && !encoder->params.src_bits && (!config->encoder || config->widen_src))
        encoder->params.src_bits = session->machine.harts > 1u << NTR_MDO_BITS ? 2 * NTR_MDO_BITS : NTR_MDO_BITS;
    if (config->max_size && config->widen_src && !encoder->params.src_bits) encoder->params.src_bits = NTR_MDO_BITS;
    encoder->check_returns = true; /* a signal handler's return, and longjmp, do not go behind a call */
    encoder->allocator = config->allocator;
    encoder->sink = ntr_bundle_writer_put;
    encoder->sink_user = &session->stream;
    encoder->params.xlen = (uint8_t)session->elf.xlen;
    return NTR_OK;
}

/* From time to time: a stream that has become large is compressed. */
static void check_size(struct ntr_capture *session) {
    enum { LARGE = 1 << 20 };

    if (session->compresses || !session->config.compress_large || session->stream.offset < LARGE) return;
    if (session->config.max_size || !ntr_zstd_can_write()) return;
    ntr_capture_note(&session->harts, ntr_capture_compress(session));
}

/* The extensions that reuse encodings are switched on in the model of QEMU's CPU: "rv64,zcmp=true,d=false". */
static unsigned isa_of_cpu(const char *cpu) {
    static const struct {
        const char *name;
        unsigned isa;
    } properties[] = {{"zcmp=", NTR_ISA_ZCMP}, {"zcmt=", NTR_ISA_ZCMT}, {"zce=", NTR_ISA_ZCMP | NTR_ISA_ZCMT}};
    unsigned isa = 0;
    for (const char *part = cpu ? strchr(cpu, ',') : NULL; part; part = strchr(part, ',')) {
        part += 1;
        if (strncmp(part, "x-", 2) == 0) part += 2;
        for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
            const char *value = part + strlen(properties[i].name);
            if (strncmp(part, properties[i].name, strlen(properties[i].name)) == 0 &&
                (strncmp(value, "true", 4) == 0 || strncmp(value, "on", 2) == 0))
                isa |= properties[i].isa;
        }
    }
    return isa;
}

/* Cuts the addresses of loads and stores to those of RV32. */
static ntr_status cut_accesses(struct ntr_capture *session) {
    ntr_capture_config *config = &session->config;
    const uint64_t first = config->access_first, last = config->access_last;
    if (session->elf.xlen != 32 || !config->accesses || config->access_symbol) return NTR_OK;
    if (ntr_fit_address(32, &config->access_first) && ntr_fit_address(32, &config->access_last) &&
        config->access_first <= config->access_last)
        return NTR_OK;
    return ntr_capture_fail(&session->reason, NTR_E_INVALID,
                            "loads and stores: expected a range of 32-bit addresses, found 0x%" PRIx64 "-0x%" PRIx64,
                            first, last);
}

ntr_status ntr_capture_session_create(struct ntr_capture *session) {
    const ntr_allocator *allocator = session->config.allocator;
    struct ntr_capture_record *record = &session->record;

    record->allocator = allocator;
    record->reason = &session->reason;
    record->xlen = session->elf.xlen;
    record->isa = isa_of_cpu(session->config.cpu);
    record->begun = (int64_t)time(NULL);
    if (cut_accesses(session) != NTR_OK) return NTR_E_INVALID;
    ntr_bundle_new(allocator, &record->bundle);
    ntr_program_new(allocator, &record->program);
    if (!record->bundle || !record->program) return ntr_capture_fail_memory(&session->reason);
    ntr_status status = ntr_bundle_create(record->bundle, session->config.bundle);
    return status == NTR_OK ? ntr_capture_stream_open(session) : ntr_capture_record_fail(record, status);
}

/* ---- which part of the execution is traced ------------------------------------------------------------------------
 */

static void add_address(struct ntr_capture_place *place, uint64_t address) {
    for (size_t i = 0; i < place->count && i < NTR_CAPTURE_LOADS; i++)
        if (place->addresses[i] == address) return;
    place->addresses[place->count++ % NTR_CAPTURE_LOADS] = address;
    place->address_known = true;
}

/* The file is that of the first look: a library that is loaded later may have another symbol of this name. */
static void find_symbol(void *user, struct ntr_capture_place *place) {
    struct ntr_capture *session = user;
    const struct channel *channel = session->source.channel;
    ntr_symbol symbol;

    ntr_capture_record_files(&session->record, channel->maps, (size_t)atomic_load(&channel->head.maps));
    *session->reason.text = 0; /* a file that cannot be copied is reported at the end */
    const ntr_program *program = session->record.program;
    if (!place->file && ntr_program_find(program, place->name, &symbol) == NTR_OK) {
        place->file = symbol.image;
        place->size = symbol.size;
        place->code_size =
            session->machine.name
                ? 0
                : ntr_program_read(program, ntr_place_at(NULL, 0, symbol.address), place->code,
                                   symbol.size && symbol.size < sizeof place->code ? symbol.size : sizeof place->code);
    }
    while (place->file && ntr_program_find_in(program, place->file, place->name, &place->images, &symbol) == NTR_OK)
        add_address(place, symbol.address);
    uint64_t address;
    if (!place->file && session->machine.kernel && ntr_capture_kernel_symbol(session, place->name, &address))
        add_address(place, address);
}

static struct ntr_capture_place place_of(const struct ntr_capture *session, const char *text) {
    struct ntr_capture_place place = {.given = text, .name = text};
    char *end;

    if (!text || *text < '0' || *text > '9') return place;
    place.addresses[0] = strtoull(text, &end, 0);
    uint64_t fitted = place.addresses[0];
    if (ntr_fit_address(session->elf.xlen, &fitted)) place.addresses[0] = fitted;
    place.address_known = *end == 0;
    place.count = place.address_known;
    if (place.address_known) place.name = NULL;
    return place;
}

/* `before`: the window of the program that was replaced, or NULL. */
static void set_window(struct ntr_capture *session, const struct ntr_capture_window *before) {
    const ntr_capture_config *config = &session->config;
    struct ntr_capture_window *window = &session->harts.window;
    bool waits = config->start_at || config->skip;

    *window = (struct ntr_capture_window){
        .state = before  ? before->state
                 : waits ? NTR_CAPTURE_WINDOW_WAITS
                         : NTR_CAPTURE_WINDOW_OPEN,
        .skip = before ? before->skip : config->skip,
        .start = place_of(session, config->start_at),
        .stop = place_of(session, config->stop_at),
        .find = find_symbol,
        .user = session,
    };
}

/* With max_size there is no widening, because the parts of the stream that are complete stay as they are. */
static bool widens_src(const ntr_capture_config *config) {
    return !config->topology.size && !config->max_size && !config->machine && (!config->encoder || config->widen_src);
}

void ntr_capture_session_take_maps(struct ntr_capture *session) {
    struct channel *channel = session->source.channel;
    const uint64_t maps = channel ? atomic_load(&channel->head.maps) : 0;

    if (!channel || maps == atomic_load(&channel->head.maps_read)) return;
    session->record.pid = session->pid;
    ntr_capture_record_files(&session->record, channel->maps, (size_t)maps);
    *session->reason.text = 0; /* a file that cannot be copied is reported at the end */
    atomic_store(&channel->head.maps_read, maps);
}

/* `widen` of the harts. */
static ntr_status widen(void *user, uint32_t hart) {
    return ntr_capture_widen(user, hart);
}

ntr_status ntr_capture_session_attach(struct ntr_capture *session) {
    bool widens = widens_src(&session->config);
    const struct ntr_capture_target target = {.channel = session->source.channel,
                                              .config = &session->encoder,
                                              .stream = &session->stream,
                                              .system = session->system,
                                              .record = session->machine.name ? NULL : &session->record,
                                              .widen = widens ? widen : NULL,
                                              .user = session};
    const struct ntr_capture_window window = session->harts.window;
    bool again = session->past.programs != 0;
    ntr_status status = ntr_capture_harts_init(&session->harts, &target, session->config.allocator);
    session->harts.isa = isa_of_cpu(session->config.cpu);
    set_window(session, again ? &window : NULL);
    if (status == NTR_OK && session->machine.name)
        status = ntr_capture_machine_init(&session->harts, session->machine.no_contexts);
    session->harts.pause_at = ntr_capture_ring_end(&session->ring, &session->stream);
    ntr_capture_watch_begin(&session->harts, &session->config);
    return status == NTR_OK ? status : ntr_capture_fail_memory(&session->reason);
}

uint64_t ntr_capture_session_instructions(const struct ntr_capture *session) {
    uint64_t sum = 0;
    for (uint32_t i = 0; session->harts.harts && i < CHANNEL_LANES; i++) sum += session->harts.harts[i].time;
    return sum;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* The signal, if it is one that an instruction raises, else 0. */
static int fault_of(int signal) {
    bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
    return is_fault ? signal : 0;
}

static ntr_status without_plugin(struct ntr_capture *session) {
    const bool machine = session->machine.name != NULL;

    ntr_capture_guest_version(&session->guest);
    return ntr_capture_fail(&session->reason, NTR_E_FORMAT,
                            "QEMU ended without the capture plugin: what it wrote says why, or it is not the "
                            "expected one (expected %s of version %s, found \"%s\"; tools/fetch_qemu%s %s one)",
                            machine ? "a QEMU" : "a QEMU built with plugins", ntr_capture_qemu_supported(machine),
                            *session->guest.version ? session->guest.version
                                                    : "a program that does not say its version",
                            machine ? "" : " --user", machine ? "fetches" : "builds");
}

static ntr_status check(struct ntr_capture *session) {
    ntr_status failure = session->harts.failure;

    if (!session->past.programs && atomic_load(&session->source.channel->head.state) == CHANNEL_NEW)
        return without_plugin(session);
    if (failure == NTR_OK || *session->reason.text) return failure; /* the modelled system gave its reason */
    return ntr_capture_fail(&session->reason, failure, "encoding failed: %s", ntr_status_text(failure));
}

/* ---- while the program runs: what there is can be read if this process is killed ----------------------------------
 */

static void cut(struct ntr_capture *session) {
    const ntr_capture_config *config = &session->config;
    char path[PATH_MAX];

    if (session->harts.failure != NTR_OK || !ntr_capture_ring_is_full(&session->ring, &session->stream)) return;
    ntr_capture_stream_path(session, path, sizeof path);
    ntr_capture_stop_all(&session->harts);
    ntr_capture_note(&session->harts, ntr_capture_ring_cut(&session->ring, &session->stream, path, session->compresses,
                                                           config->allocator, &session->reason));
    session->harts.pause_at = ntr_capture_ring_end(&session->ring, &session->stream);
}

void ntr_capture_session_drain(struct ntr_capture *session) {
    while (ntr_capture_harts_drain(&session->harts, true)) cut(session);
}

/* With max_size, the stream is in several files, which change: what is described is a copy. */
static void describe_copy(struct ntr_capture *session) {
    char path[PATH_MAX], copy[PATH_MAX];

    ntr_capture_stream_path(session, path, sizeof path);
    const bool made = ntr_capture_ring_copy(&session->ring, path, copy);
    if (made) ntr_capture_session_describe(session, strrchr(copy, '/') + 1);
    if (made) ntr_capture_ring_drop_copy(&session->ring, path, true);
}

void ntr_capture_session_save(struct ntr_capture *session) {
    enum { FIRST = 200000000, FIRST_BYTES = 1 << 18, PAUSE = 20 };
    const uint64_t every = 2000000000 > PAUSE * session->save_time ? 2000000000 : PAUSE * session->save_time;
    uint64_t now = ntr_capture_clock();

    if (!session->source.channel) return;
    check_size(session);
    if (session->stream.error) ntr_capture_note(&session->harts, NTR_E_IO);
    cut(session);
    const struct channel_head *head = &session->source.channel->head;
    if (!session->saved_at) session->saved_at = now;
    bool is_due = session->saved_size ? now - session->saved_at >= every
                                      : now - session->saved_at >= FIRST || session->stream.offset >= FIRST_BYTES;
    if (session->system || !is_due) return;
    if (atomic_load(&head->state) != CHANNEL_ATTACHED || (!head->machine && !atomic_load(&head->maps)) ||
        session->stream.error || session->saved_size == session->stream.offset)
        return;
    ntr_bundle_writer_save(&session->stream);
    if (session->ring.limit)
        describe_copy(session);
    else
        ntr_capture_session_describe(session, ntr_capture_stream_name(session));
    session->save_time = ntr_capture_clock() - now;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* The bundle cannot be completed. What has been written is kept if it can be described; a part of the stream gives the
 * room for that on a full disk. */
static ntr_status salvage(struct ntr_capture *session, ntr_status status) {
    enum { SPARE = 1 << 18 };
    struct ntr_capture_reason reason = session->reason;
    char path[PATH_MAX];
    struct stat about;

    ntr_capture_stream_path(session, path, sizeof path);
    if (session->stream.error && !session->compresses && stat(path, &about) == 0 &&
        truncate(path, about.st_size > 2 * SPARE ? about.st_size - SPARE : about.st_size / 2) == 0 &&
        session->saved_size) {
        const struct ntr_capture_report report = ntr_capture_session_report(
            session, "the stream could not be written to its end; the end of the trace is missing");
        ntr_capture_bundle_save(&session->record, &report, &session->harts.code);
    }
    bool kept = ntr_bundle_keep(session->record.bundle) == NTR_OK;
    return ntr_capture_fail(&session->reason, status, "%s%s%s", reason.text,
                            kept ? "; what was written before is in " : "", kept ? session->config.bundle : "");
}

static ntr_status complete(struct ntr_capture *session) {
    struct ntr_capture_harts *harts = &session->harts;
    char path[PATH_MAX];

    ntr_capture_session_drain(session);
    ntr_capture_guest_reap(&session->guest);
    ntr_capture_harts_finish(harts, fault_of(session->guest.signal));
    ntr_status status = session->system ? ntr_capture_system_finish(session->system) : NTR_OK;
    ntr_status closed = ntr_capture_stream_close(session);
    ntr_capture_stream_path(session, path, sizeof path);
    if (closed == NTR_OK) closed = ntr_capture_ring_join(&session->ring, path, &session->reason);
    if (status == NTR_OK) status = closed;
    if (status == NTR_OK) status = check(session);
    if (status != NTR_OK) return status;
    if (session->system) ntr_capture_place_marks(session);
    if (!ntr_capture_code_finish(&harts->code)) return ntr_capture_fail_memory(&session->reason);
    if (harts->machine && !ntr_capture_write_notes(session))
        return ntr_capture_fail_errno(&session->reason, "the notes about the guest");
    if (session->machine.name) {
        ntr_capture_guest_names(session);
        ntr_capture_firmware_names(session);
    }
    const struct ntr_capture_report report = ntr_capture_session_report(session, NULL);
    return ntr_capture_bundle_finish(&session->record, &report, &session->losses);
}

ntr_status ntr_capture_session_finish(struct ntr_capture *session) {
    session->finished = true;
    ntr_status status = complete(session);
    return status == NTR_OK ? status : salvage(session, status);
}
