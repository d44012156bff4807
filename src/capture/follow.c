/* Programs and processes that follow the first one.
 *
 * execve: QEMU starts again in the same process, with the same memory, and its plugin waits (CHANNEL_REPLACED). The
 * trace of the program before is completed, the memory is cleared, and new harts continue the stream. Images of the
 * bundle are valid for the part of the stream in which their program was executed.
 *
 * fork: the child has created a memory and waits until its parent's list of children (channel_head.children) is read.
 * It gets a session with a bundle of its own. */
#include "base/allocator.h"
#include "capture/mapped.h"
#include "capture/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the program of a process -------------------------------------------------------------------------------------
 */

static void set_process(struct ntr_capture *session, const char *program) {
    const char *slash = strrchr(program, '/');
    snprintf(session->process, sizeof session->process, "%s", slash ? slash + 1 : program);
}

/* QEMU's arguments behind the plugin: "-0", name of the program, its file, its arguments. The list refers to `text`. */
static const char **find_command(const ntr_allocator *allocator, char *text, size_t size) {
    size_t count = 0, at = 0;
    const char **words;

    for (const char *p = text; p < text + size; p += strlen(p) + 1) {
        if (strstr(p, ",channel=/proc/")) at = (size_t)(p - text) + strlen(p) + 1;
        count++;
    }
    char *word = text + at;
    if (!at || at >= size || strcmp(word, "-0") != 0) return NULL;
    words = ntr_alloc(allocator, count + 1, sizeof *words);
    if (!words) return NULL;
    words[0] = word += strlen(word) + 1;
    word += strlen(word) + 1; /* the file */
    count = 1;
    for (word += strlen(word) + 1; word < text + size; word += strlen(word) + 1) words[count++] = word;
    words[count] = NULL;
    return words;
}

/* Take the command from that of QEMU. Without it, the one before stays. */
static void read_command(struct ntr_capture *session) {
    enum { COMMAND_MAX = 1 << 21 };
    const ntr_allocator *allocator = session->config.allocator;
    char path[64], *text = ntr_alloc(allocator, COMMAND_MAX, 1);
    size_t size = 0;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)session->guest.pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    while (text && file >= 0 && size < COMMAND_MAX - 1 && (n = read(file, text + size, COMMAND_MAX - 1 - size)) > 0)
        size += (size_t)n;
    if (file >= 0) close(file);
    const char **words = text && size ? find_command(allocator, text, size) : NULL;
    if (!words) {
        ntr_dealloc(allocator, text);
    } else if (ntr_capture_record_keep(&session->record, text)) {
        set_process(session, words[0]);
        if (session->first) { /* the bundle of the first process has the command that was given */
            ntr_dealloc(allocator, session->command);
            session->command = words;
            return;
        }
    }
    ntr_dealloc(allocator, words);
}

/* ---- execve -------------------------------------------------------------------------------------------------------
 */

/* As ntr_capture_source_open leaves the memory. Entries of children stay: they may wait. */
static void clear(struct ntr_capture_source *source) {
    struct channel_head *head = &source->channel->head;
    const size_t begin = offsetof(struct channel, lanes), page = (begin + 4095) / 4096 * 4096;

    memset((char *)source->channel + begin, 0, page - begin);
    if (fallocate(source->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)page,
                  (off_t)(sizeof(struct channel) - page)))
        memset((char *)source->channel + page, 0, sizeof(struct channel) - page);
    atomic_store(&head->blocks, 1);
    atomic_store(&head->loops, 0);
    atomic_store(&head->lanes, 0);
    atomic_store(&head->forks, 0);
    atomic_store(&head->executing, 0);
    atomic_store(&head->counters, 0);
    atomic_store(&head->code, 0);
    atomic_store(&head->maps, 0);
    atomic_store(&head->maps_read, 0);
    atomic_store(&head->shared, 0);
    atomic_store(&head->status, 0);
}

/* The new harts continue the clocks of the old ones, so that time does not go back. */
static ntr_status renew_harts(struct ntr_capture *session) {
    uint64_t *times = ntr_alloc(session->config.allocator, CHANNEL_LANES, sizeof *times);

    if (!times) return ntr_capture_fail_memory(&session->reason);
    for (uint32_t i = 0; i < CHANNEL_LANES; i++) times[i] = session->harts.harts[i].time;
    ntr_capture_harts_release(&session->harts);
    ntr_status status = ntr_capture_session_attach(session);
    for (uint32_t i = 0; status == NTR_OK && i < CHANNEL_LANES; i++) session->harts.harts[i].time = times[i];
    ntr_dealloc(session->config.allocator, times);
    return status;
}

static ntr_status continue_session(struct ntr_capture *session) {
    struct ntr_capture_harts *harts = &session->harts;

    ntr_capture_session_drain(session);
    ntr_capture_harts_finish(harts, 0);
    if (harts->failure != NTR_OK) return harts->failure;
    if (!ntr_capture_code_finish(&harts->code)) return ntr_capture_fail_memory(&session->reason);
    ntr_capture_past_add(&session->past, harts);
    ntr_status status = ntr_capture_record_files(&session->record, harts->channel->maps,
                                                 (size_t)atomic_load(&harts->channel->head.maps));
    if (status == NTR_OK)
        status = ntr_capture_record_names(&session->record, harts->channel->maps,
                                          (size_t)atomic_load(&harts->channel->head.maps),
                                          atomic_load(&harts->channel->head.map_is_left) ? 0 : session->pid);
    if (status == NTR_OK) status = ntr_capture_record_code(&session->record, &harts->code);
    if (status == NTR_OK) status = ntr_capture_record_next(&session->record, session->stream.offset);
    if (status == NTR_OK) status = renew_harts(session);
    return status;
}

static bool take_program(struct ntr_capture *session) {
    struct channel_head *head = &session->source.channel->head;

    if (atomic_load(&head->state) != CHANNEL_REPLACED) return false;
    ntr_status status = continue_session(session);
    if (status != NTR_OK) {
        ntr_capture_note(&session->harts, status);
        atomic_store(&head->given_up, 1);
    }
    read_command(session);
    clear(&session->source);
    atomic_store(&head->state, CHANNEL_NEW);
    return true;
}

/* ---- fork ---------------------------------------------------------------------------------------------------------
 */

/* "x.ntrace" becomes "x.PID.ntrace". */
static const char *name_bundle(struct ntr_capture *child, const char *bundle, int pid) {
    static const char suffix[] = ".ntrace";
    size_t length = strlen(bundle), size;

    while (length > 1 && bundle[length - 1] == '/') length--;
    if (length > sizeof suffix - 1 && memcmp(bundle + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0)
        length -= sizeof suffix - 1;
    size = length + sizeof suffix + 16;
    char *name = ntr_alloc(child->config.allocator, size, 1);
    if (name) snprintf(name, size, "%.*s.%d%s", (int)length, bundle, pid, suffix);
    return ntr_capture_record_keep(&child->record, name);
}

static ntr_status open_child(struct ntr_capture *child, int pid, int file) {
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, file);
    ntr_status status = ntr_capture_source_adopt(&child->source, path, &child->reason);
    if (status == NTR_OK) status = ntr_capture_guest_adopt(&child->guest, pid, &child->reason);
    if (status == NTR_OK) status = ntr_capture_session_configure(child);
    if (status != NTR_OK) return status;
    child->config.bundle = name_bundle(child, child->first->config.bundle, pid);
    if (!child->config.bundle) return ntr_capture_fail_memory(&child->reason);
    status = ntr_capture_session_create(child);
    return status == NTR_OK ? ntr_capture_session_attach(child) : status;
}

/* The command of the parent, until the child executes another program. */
static ntr_status copy_command(struct ntr_capture *child, const char *const *words) {
    size_t count = 0, size = 0, at = 0;

    for (; words[count]; count++) size += strlen(words[count]) + 1;
    char *text = ntr_alloc(child->config.allocator, size + 1, 1);
    child->command = ntr_alloc(child->config.allocator, count + 1, sizeof *child->command);
    if (!ntr_capture_record_keep(&child->record, text) || !child->command)
        return ntr_capture_fail_memory(&child->reason);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]) + 1;
        child->command[i] = memcpy(text + at, words[i], length);
        at += length;
    }
    child->command[count] = NULL;
    return NTR_OK;
}

static struct ntr_capture *new_child(struct ntr_capture *parent, int pid) {
    struct ntr_capture *first = parent->first ? parent->first : parent;
    const ntr_allocator *allocator = first->config.allocator;

    if (ntr_reserve(allocator, (void **)&first->children, &first->child_capacity, first->child_count + 1,
                    sizeof *first->children))
        return NULL;
    struct ntr_capture *child = ntr_alloc(allocator, 1, sizeof *child);
    if (!child) return NULL;
    child->config = first->config;
    child->config.skip = 0;
    child->first = first;
    child->elf = parent->elf;
    child->stream.fd = -1;
    child->started = true;
    child->pid = pid;
    child->record.allocator = allocator;
    memcpy(child->process, parent->process, sizeof child->process);
    return first->children[first->child_count++] = child;
}

/* A child that cannot be traced runs on untraced; the reason is recorded. */
static void adopt(struct ntr_capture *parent, struct channel_child *entry, int32_t pid, int32_t file) {
    struct ntr_capture *child = new_child(parent, pid);

    if (child && open_child(child, pid, file) == NTR_OK &&
        copy_command(child, parent->command ? parent->command : parent->config.command) == NTR_OK) {
        child->source.channel->head.file = child->source.file;
        child->record.parent = &parent->record;
        ntr_capture_session_take_maps(child);
        child->record.parent = NULL;
        parent->adopted++;
    } else if (child) {
        if (child->source.channel) atomic_store(&child->source.channel->head.given_up, 1);
        child->harts.failure = NTR_E_IO;
    }
    atomic_store(&entry->file, 0);
    atomic_store(&entry->pid, 0);
}

static bool take_children(struct ntr_capture *session) {
    bool any = false;

    if (!session->config.follow_fork || !session->source.channel) return false;
    for (unsigned i = 0; i < CHANNEL_CHILDREN; i++) {
        struct channel_child *entry = &session->source.channel->head.children[i];
        int32_t file = atomic_load(&entry->file);
        if (!file) continue;
        adopt(session, entry, atomic_load(&entry->pid), file - 1);
        any = true;
    }
    return any;
}

bool ntr_capture_children_known(struct ntr_capture *session) {
    enum { SECOND = 1000000000 };
    const struct channel_head *head = &session->source.channel->head;

    if (!session->config.follow_fork || session->past.forks + atomic_load(&head->forks) <= session->adopted)
        return true;
    if (!session->ended_at) session->ended_at = ntr_capture_clock();
    return ntr_capture_clock() - session->ended_at > SECOND;
}

/* ---- the end of a child -------------------------------------------------------------------------------------------
 */

static void note_written(struct ntr_capture *first, const struct ntr_capture *child) {
    const ntr_allocator *allocator = first->config.allocator;

    if (ntr_reserve(allocator, (void **)&first->written, &first->written_capacity, first->written_count + 1,
                    sizeof *first->written))
        return;
    struct ntr_capture_written *written = ntr_alloc(allocator, 1, sizeof *written);
    if (!written) return;
    snprintf(written->bundle, sizeof written->bundle, "%s", child->config.bundle);
    memcpy(written->process, child->process, sizeof written->process);
    written->pid = child->guest.adopted;
    written->instructions = ntr_capture_session_instructions(child);
    written->bytes = child->stream.offset;
    first->written[first->written_count++] = written;
}

/* QEMU's version is asked for once, for the first session. */
static void finish_child(struct ntr_capture *first, struct ntr_capture *child) {
    ntr_capture_guest_version(&first->guest);
    memcpy(child->guest.version, first->guest.version, sizeof child->guest.version);
    if (child->guest.pid && child->harts.harts && ntr_capture_session_finish(child) == NTR_OK)
        note_written(first, child);
    else
        first->failed_children++;
    ntr_capture_session_release(child);
    ntr_dealloc(first->config.allocator, child);
}

static bool end_children(struct ntr_capture *first) {
    bool any = false;

    for (size_t i = 0; i < first->child_count; i++) {
        struct ntr_capture *child = first->children[i];
        bool failed = child->harts.failure != NTR_OK || !child->guest.pid;
        if (!failed && (!child->guest.ended || take_children(child) || !ntr_capture_children_known(child))) continue;
        first->children[i--] = first->children[--first->child_count];
        finish_child(first, child);
        any = true;
    }
    return any;
}

bool ntr_capture_follow(struct ntr_capture *first) {
    bool any = take_program(first);

    any |= take_children(first);
    for (size_t i = 0; i < first->child_count; i++) {
        any |= take_program(first->children[i]);
        any |= take_children(first->children[i]);
    }
    return end_children(first) | any;
}
