/* The public interface: one session for the first process, and those of its child processes. */
#include "base/allocator.h"
#include "base/config.h"
#include "capture/guest_files.h"
#include "capture/session.h"
#include "capture/window.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <signal.h>
#include <time.h>

/* ---- life ---------------------------------------------------------------------------------------------------------
 */

ntr_status ntr_capture_new(const ntr_capture_config *config, ntr_capture **out) {
    *out = NULL;
    ntr_capture_config loaded;

    ntr_status status = ntr_config_load(&loaded, sizeof loaded, config);
    if (status != NTR_OK) return status;
    ntr_capture *session = ntr_alloc(loaded.allocator, 1, sizeof *session);
    if (!session) return NTR_E_MEMORY;
    session->config = loaded;
    session->stream.fd = -1;
    if (loaded.allocator) {
        session->allocator_copy = *loaded.allocator;
        session->config.allocator = &session->allocator_copy;
    }
    *out = session;
    return NTR_OK;
}

void ntr_capture_free(ntr_capture *session) {
    if (!session) return;
    ntr_allocator copy = session->allocator_copy;
    const ntr_allocator *allocator = session->config.allocator ? &copy : NULL;

    for (size_t i = 0; i < session->child_count; i++) {
        ntr_capture_session_release(session->children[i]);
        ntr_dealloc(allocator, session->children[i]);
    }
    for (size_t i = 0; i < session->written_count; i++) ntr_dealloc(allocator, session->written[i]);
    ntr_dealloc(allocator, session->children);
    ntr_dealloc(allocator, session->written);
    ntr_capture_session_release(session);
    ntr_dealloc(allocator, session);
}

const char *ntr_capture_error(const ntr_capture *session) {
    return session->reason.text;
}

/* ---- start --------------------------------------------------------------------------------------------------------
 */

/* A script, or a name that is to be looked for. */
static bool find_program(ntr_capture *session) {
    const ntr_capture_config *config = &session->config;
    const char *name = config->command[0], *root = ntr_capture_guest_root(config);
    struct channel_program *program = &session->program;

    int failed = ntr_channel_resolve(root, name, program);
    if (failed && !strchr(name, '/')) failed = ntr_channel_resolve_in(root, config->search, name, program);
    if (failed) *program->path = 0;
    return !failed && ntr_capture_elf_read(program->path, &session->elf);
}

static ntr_status inspect_machine(ntr_capture *session) {
    const ntr_capture_config *config = &session->config;

    if (ntr_config_load(&session->machine, sizeof session->machine, config->machine) != NTR_OK ||
        !session->machine.name || !session->machine.plugin || !config->qemu ||
        (session->machine.xlen != 32 && session->machine.xlen != 64))
        return ntr_capture_fail(&session->reason, NTR_E_INVALID,
                                "a machine needs its name, its XLEN, a capture plugin and QEMU");
    if (config->follow_fork)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "all processes of a machine are in its trace");
    snprintf(session->process, sizeof session->process, "%s", config->command[0]);
    session->elf.xlen = session->machine.xlen;
    for (size_t i = 0; i < session->machine.file_count; i++) {
        const ntr_status status = ntr_guest_files_check(session->machine.files[i], &session->reason);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static ntr_status inspect(ntr_capture *session) {
    if (session->config.machine) return inspect_machine(session);
    const char *path = session->config.command[0], *slash = strrchr(path, '/');

    snprintf(session->process, sizeof session->process, "%s", slash ? slash + 1 : path);
    bool good = ntr_capture_elf_read(path, &session->elf);
    int failed = errno;
    /* QEMU ends without a word when the file is not executable. */
    if (good && session->elf.is_riscv && access(path, X_OK)) return ntr_capture_fail_errno(&session->reason, path);
    if (good && session->elf.is_riscv) return NTR_OK;
    if (find_program(session)) return NTR_OK;
    if (good)
        return ntr_capture_fail(&session->reason, NTR_E_FORMAT,
                                "%s: expected a RISC-V program, found one for another machine", path);
    return ntr_capture_fail(&session->reason, failed ? NTR_E_IO : NTR_E_FORMAT, "%s: %s", path,
                            failed ? strerror(failed)
                                   : "expected a program for RISC-V (ELF), found another kind of file");
}

static ntr_status open_source(ntr_capture *session) {
    ntr_status status = ntr_capture_source_open(&session->source, &session->reason);

    if (status != NTR_OK) return status;
    session->source.channel->head.machine = session->machine.name != NULL;
    session->source.channel->head.clock = session->machine.name && session->machine.clock;
    if (session->machine.name) {
        ntr_capture_machine_types(session);
        return ntr_capture_session_attach(session);
    }
    if (!session->system) /* its messages are still under way when the program changes */
        session->source.channel->head.follow =
            CHANNEL_FOLLOW_EXEC | (session->config.follow_fork ? CHANNEL_FOLLOW_FORK : 0u);
    return ntr_capture_session_attach(session);
}

static bool is_in_program(const ntr_capture *session, const char *name) {
    const char *path = *session->program.path ? session->program.path : session->config.command[0];
    ntr_program *program;
    ntr_program_new(session->config.allocator, &program);
    ntr_symbol symbol = {0};

    bool found = program && ntr_program_add_elf(program, path, NULL) == NTR_OK &&
                 ntr_program_find(program, name, &symbol) == NTR_OK;
    ntr_program_free(program);
    return found && symbol.size;
}

/* Does a file have the object whose loads and stores are traced? Of a dynamic program, a library may have it, which is
 * known when the program runs. */
static ntr_status check_object(ntr_capture *session) {
    const char *name = session->config.access_symbol;

    if (!name || session->elf.is_dynamic) return NTR_OK;
    if (session->machine.name ? ntr_capture_watch_find(&session->harts) : is_in_program(session, name)) return NTR_OK;
    return ntr_capture_fail(&session->reason, NTR_E_INVALID, "'%s': no object with this name and a size in the %s",
                            name, session->machine.name ? "ELF files of the machine (firmware, kernel)" : "program");
}

ntr_status ntr_capture_start(ntr_capture *session) {
    const ntr_capture_config *config = &session->config;

    if (session->started) return ntr_capture_fail(&session->reason, NTR_E_STATE, "the capture was started before");
    if (!config->command || !config->command[0] || !config->bundle)
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "a capture needs a program and a bundle");
    session->started = true;
    ntr_status status = inspect(session);
    if (status == NTR_OK && config->max_size && config->topology.size)
        status = ntr_capture_fail(&session->reason, NTR_E_INVALID,
                                  "a stream of a modelled system has no maximal size; the sinks have sizes");
    if (status == NTR_OK && config->follow_fork && config->topology.size)
        status = ntr_capture_fail(&session->reason, NTR_E_INVALID,
                                  "child processes cannot be traced through a modelled system");
    if (status == NTR_OK && config->accesses &&
        (config->topology.size || config->skip || config->start_at || config->stop_at))
        status =
            ntr_capture_fail(&session->reason, NTR_E_INVALID,
                             "loads and stores cannot be traced with a modelled system or a part of the execution");
    if (status == NTR_OK) status = ntr_capture_session_configure(session);
    if (status == NTR_OK) status = ntr_capture_session_create(session);
    if (status == NTR_OK) status = open_source(session);
    if (status == NTR_OK && session->machine.name) status = ntr_capture_machine_files(session);
    if (status == NTR_OK) status = check_object(session);
    if (status == NTR_OK && session->machine.name)
        status = ntr_capture_machine_start(session);
    else if (status == NTR_OK)
        status = ntr_capture_guest_start(&session->guest, config, &session->elf, &session->program,
                                         session->source.file, &session->reason);
    session->pid = (int)session->guest.pid;
    return status;
}

int ntr_capture_process(const ntr_capture *session) {
    return (int)session->guest.pid;
}

void ntr_capture_kill(const ntr_capture *session) {
    if (session->guest.pid && !session->guest.ended) kill(session->guest.pid, SIGKILL);
    for (size_t i = 0; i < session->child_count; i++) ntr_capture_kill(session->children[i]);
}

/* ---- while the program runs ---------------------------------------------------------------------------------------
 */

static bool drain(ntr_capture *session, bool all) {
    bool any = ntr_capture_harts_drain(&session->harts, all);
    for (size_t i = 0; i < session->child_count; i++) any |= ntr_capture_harts_drain(&session->children[i]->harts, all);
    return any;
}

static void save(ntr_capture *session) {
    ntr_capture_session_save(session);
    for (size_t i = 0; i < session->child_count; i++) ntr_capture_session_save(session->children[i]);
}

/* Nothing is left but words of batches that are not complete. */
static void settle(struct ntr_capture *session) {
    struct ntr_capture_harts *harts = &session->harts;

    if (!ntr_capture_harts_drain(harts, true)) ntr_capture_harts_poll(harts);
    ntr_capture_session_save(session);
    if (harts->failure != NTR_OK) { /* the process would wait for its reader */
        atomic_store(&session->source.channel->head.given_up, 1);
        ntr_capture_guest_kill(&session->guest);
    }
    ntr_capture_guest_poll(&session->guest);
}

/* QEMU's log holds traps that the plugin has not read. It reads them when the next block begins; a hart whose trap
 * handler traps at once begins none. */
static bool is_stuck(const struct ntr_capture *session) {
    enum { BLOCK = 512, LOG_MOST = 64 << 20 };
    struct stat log;

    return session->log > 0 && fstat(session->log, &log) == 0 && (uint64_t)log.st_blocks * BLOCK > LOG_MOST;
}

/* QEMU starts before the machine does. */
static bool has_begun(struct ntr_capture *session) {
    if (!session->begun_at && atomic_load(&session->source.channel->head.state) != CHANNEL_NEW)
        session->begun_at = ntr_capture_clock();
    return session->begun_at;
}

/* The machine has run for as long as it should. Its harts stop at once in the trace, and soon in QEMU. */
static void limit_run(struct ntr_capture *session) {
    const ntr_capture_config *config = &session->config;
    if (!session->machine.name || session->ends || session->guest.ended || !has_begun(session)) return;
    bool due = (config->instructions && ntr_capture_session_instructions(session) >= config->instructions) ||
               (config->nanoseconds && ntr_capture_clock() - session->begun_at >= config->nanoseconds);

    session->stuck = !due && is_stuck(session);
    if (!due && !session->stuck) return;
    session->ends = true;
    if (session->guest.pid) kill(session->guest.pid, SIGTERM);
}

/* While complete batches arrive, later words are not read: reading words that the plugin is writing moves cache
 * lines between the processors. */
ntr_status ntr_capture_step(ntr_capture *session) {
    const struct timespec nap = {.tv_nsec = 200000};

    if (!session->guest.pid) return ntr_capture_fail(&session->reason, NTR_E_STATE, "no program runs");
    ntr_capture_session_take_maps(session);
    for (size_t i = 0; i < session->child_count; i++) ntr_capture_session_take_maps(session->children[i]);
    bool any = ntr_capture_follow(session) || drain(session, false);
    save(session);
    limit_run(session);
    if (any) return NTR_NEED_MORE;
    if (session->guest.ended && !session->child_count && ntr_capture_children_known(session)) return NTR_OK;
    nanosleep(&nap, NULL);
    if (drain(session, false)) return NTR_NEED_MORE;
    if (!session->guest.ended) settle(session);
    for (size_t i = 0; i < session->child_count; i++)
        if (session->children[i]->guest.pid) settle(session->children[i]);
    return NTR_NEED_MORE;
}

ntr_status ntr_capture_finish(ntr_capture *session) {
    if (!session->guest.ended || session->child_count || session->finished)
        return ntr_capture_fail(&session->reason, NTR_E_STATE, "the program has not ended");
    return ntr_capture_session_finish(session);
}

bool ntr_capture_result_at(const ntr_capture *session, size_t index, ntr_capture_result *result) {
    size_t size = result->size;

    if (!session->finished || index > session->written_count) return false;
    const struct ntr_capture_written *child = index ? session->written[index - 1] : NULL;
    ntr_capture_result found = {.size = size,
                                .bundle = session->config.bundle,
                                .process = session->process,
                                .instructions = ntr_capture_session_instructions(session),
                                .bytes = session->stream.offset,
                                .signal = session->machine.name ? 0 : session->guest.signal};
    if (child) {
        found.bundle = child->bundle;
        found.process = child->process;
        found.pid = child->pid;
        found.instructions = child->instructions;
        found.bytes = child->bytes;
        found.signal = 0;
    }
    memcpy(result, &found, size < sizeof found ? size : sizeof found);
    return true;
}

int ntr_capture_exit_status(const ntr_capture *session) {
    /* The signal with which the run ends kills QEMU while the machine starts. */
    return session->ends && session->guest.signal == SIGTERM ? 0 : session->guest.status;
}

const char *ntr_capture_loss(const ntr_capture *session, size_t index) {
    const struct ntr_capture_losses *losses = &session->losses;
    if (index == losses->count) return losses->patched;
    return index < losses->count ? losses->items[index].what : NULL;
}
