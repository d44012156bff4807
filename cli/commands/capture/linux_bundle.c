/* The bundle of `ntrace capture --linux`: messages without their frames, the programs and libraries of each thread in
 * the trace, code and symbols of the kernel, and what the kernel says about threads and modules. */
#include "commands/capture/linux.h"
#include "io/debug_files.h"
#include "options/diagnostics.h"

#include <ntrace/frames.h>
#include <ntrace/reader.h>
#include <ntrace/version.h>

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LINUX_CONTEXTS = 4096,
    LINUX_SOURCES = 4096,
    SRC_BITS_K3 = 12,
    STREAM_MIN = 4096,
    OWNERSHIP_SCONTEXT = 2,
    OWNERSHIP_VALUE = 5,
    LINUX_IMAGES = 1024,
    KERNEL_MAX = 64 << 20, /* bytes of code of the kernel, and of its modules */
    LINE_BYTES = 4096,
};

struct linux_bundle {
    struct linux_run *run;
    ntr_bundle *bundle;
    ntr_params params;
    uint8_t *stream;
    size_t size, capacity;
    uint64_t contexts[LINUX_CONTEXTS]; /* in the trace: numbers of threads */
    size_t context_count;
    bool seen[LINUX_SOURCES];
    ntr_bundle_source sources[CAPTURE_SOURCES];
    size_t source_count;
    ntr_bundle_image images[LINUX_IMAGES];
    size_t image_count;
    char *names[LINUX_IMAGES]; /* paths of copied files, by image; freed at the end */
    size_t name_count;
};

/* ---- frames */

static ntr_status append(void *user, const uint8_t *bytes, size_t size) {
    struct linux_bundle *b = user;

    if (b->size + size > b->capacity) {
        const size_t capacity = 2 * b->capacity + size + STREAM_MIN;
        uint8_t *grown = realloc(b->stream, capacity);
        if (!grown) return NTR_E_MEMORY;
        b->stream = grown;
        b->capacity = capacity;
    }
    memcpy(b->stream + b->size, bytes, size);
    b->size += size;
    return NTR_OK;
}

/* The driver writes a barrier over the first frame of a buffer that has wrapped: its messages begin anywhere. */
static bool begins_with_barrier(const struct linux_run *run) {
    static const uint8_t word[4] = {0xff, 0xff, 0xff, 0x7f};
    for (unsigned i = 0; i < 16; i += 4)
        if (run->frames_size < 16 || memcmp(run->frames + i, word, sizeof word) != 0) return false;
    return true;
}

static int take_frames(struct linux_bundle *b, bool wrapped) {
    const struct linux_run *run = b->run;
    ntr_status status;
    ntr_frames_totals totals = {0};
    ntr_frames_options options;

    ntr_frames_options_init(&options);
    options.whole = !wrapped;
    ntr_frames *frames;
    status = ntr_frames_new(&options, &frames);

    if (frames) status = ntr_frames_feed(frames, run->frames, run->frames_size, append, b);
    if (status == NTR_OK) status = ntr_frames_finish(frames, append, b);
    if (frames) ntr_frames_totals_get(frames, &totals);
    ntr_frames_free(frames);
    if (totals.barriers)
        capture_lose(&b->run->losses, "trace is missing at %" PRIu64 " barriers of the driver", totals.barriers);
    return status == NTR_OK ? CLI_OK : cli_fail("/dev/%s: %s", run->sink, ntr_status_text(status));
}

/* ---- parameters, harts and threads of the messages */

/* Both widths are possible if the kernel does not say it; all encoders of a K3 have 12 bits. */
static void find_params(struct linux_bundle *b) {
    const struct linux_devices *d = &b->run->devices;
    uint64_t bits = SRC_BITS_K3, inhibited = 0;

    ntr_params_init(&b->params, NULL);
    if (d->encoder_count) {
        linux_read_number(d, d->encoders[0].name, "features/srcb", &bits);
        linux_read_number(d, d->encoders[0].name, "control/inhb_src", &inhibited);
    }
    b->params.src_bits = (uint8_t)(inhibited ? 0 : bits <= SRC_BITS_K3 ? bits : SRC_BITS_K3);
}

static void add_context(struct linux_bundle *b, uint64_t context) {
    for (size_t i = b->context_count; i-- > 0;)
        if (b->contexts[i] == context) return;
    if (b->context_count < LINUX_CONTEXTS) b->contexts[b->context_count++] = context;
}

static int look_at_messages(struct linux_bundle *b) {
    ntr_reader reader;
    ntr_message message;
    uint64_t good = 0, defects = 0, lost = 0;

    if (ntr_reader_init(&reader, &b->params) != NTR_OK)
        return cli_fail("the parameters of the encoder are not possible");
    ntr_reader_feed(&reader, b->stream, b->size, true);
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        defects += message.defect != NTR_OK;
        if (message.defect) continue;
        good++;
        lost += message.tcode == NTR_TCODE_ERROR;
        if (NTR_HAS(&message, SRC)) b->seen[message.src % LINUX_SOURCES] = true;
        if (NTR_HAS(&message, PROCESS) && (message.process & 3) == OWNERSHIP_SCONTEXT)
            add_context(b, message.process >> OWNERSHIP_VALUE);
    }
    if (lost)
        capture_lose(&b->run->losses, "trace was lost %" PRIu64 " times (Error messages): the encoder's FIFO was full",
                     lost);
    if (!good || defects > good)
        capture_lose(&b->run->losses, "/dev/%s holds %s: is it N-Trace?", b->run->sink,
                     good ? "hardly a message" : "no message");
    return CLI_OK;
}

static void find_sources(struct linux_bundle *b) {
    const struct linux_devices *d = &b->run->devices;

    for (size_t i = 0; i < d->encoder_count && b->source_count < CAPTURE_SOURCES; i++) {
        uint64_t id = d->encoders[i].cpu;
        linux_read_number(d, d->encoders[i].name, "features/srcid", &id);
        if (!b->seen[id % LINUX_SOURCES] && b->params.src_bits) continue;
        b->sources[b->source_count++] =
            (ntr_bundle_source){.src = (uint16_t)(b->params.src_bits ? id % LINUX_SOURCES : 0),
                                .hart = d->encoders[i].cpu,
                                .name = d->encoders[i].name};
        if (!b->params.src_bits) return;
    }
}

/* ---- images */

static ntr_bundle_image *new_image(struct linux_bundle *b) {
    if (b->image_count < LINUX_IMAGES) return &b->images[b->image_count++];
    capture_lose(&b->run->losses, "more than %d images: the code of some threads is missing", LINUX_IMAGES);
    return NULL;
}

/* The file of an image that was copied already: one copy serves many threads. */
static const ntr_bundle_image *copied(const struct linux_bundle *b, const char *path) {
    for (size_t i = 0; i < b->image_count; i++)
        if (b->images[i].options.name && strcmp(b->images[i].options.name, path) == 0) return &b->images[i];
    return NULL;
}

static const char *keep_name(struct linux_bundle *b, const char *name) {
    char *copy = b->name_count < LINUX_IMAGES ? strdup(name) : NULL;
    if (copy) b->names[b->name_count++] = copy;
    return copy;
}

static void add_elf(struct linux_bundle *b, const char *path, uint64_t bias, const uint64_t *thread) {
    const ntr_bundle_image *before = copied(b, path);
    ntr_bundle_image *image = new_image(b);

    if (!image) return;
    *image = (ntr_bundle_image){.kind = NTR_BUNDLE_ELF};
    ntr_image_options_init(&image->options);
    image->options.name = before ? before->options.name : keep_name(b, path);
    image->options.bias = bias;
    image->options.has_scontext = thread != NULL;
    image->options.scontext = thread ? *thread : 0;
    if (before) {
        image->file = before->file;
        image->build_id = before->build_id;
    } else if (!image->options.name || ntr_bundle_copy(b->bundle, path, image) != NTR_OK) {
        capture_lose(&b->run->losses, "%s cannot be copied: %s", path, ntr_bundle_error(b->bundle));
        b->image_count--;
    }
}

/* Bytes at an address: the vDSO, and code of the kernel. */
static void add_bytes(struct linux_bundle *b, const char *name, uint64_t address, const uint8_t *bytes, size_t size,
                      const uint64_t *thread) {
    ntr_bundle_image *image = size ? new_image(b) : NULL;
    char file[NAME_MAX], path[PATH_MAX];

    if (!image) return;
    snprintf(file, sizeof file, "images/%zu.bytes", b->image_count);
    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(b->bundle), file);
    FILE *out = fopen(path, "we");
    const bool good = out && fwrite(bytes, 1, size, out) == size;
    if (!out || fclose(out) != 0 || !good) {
        capture_lose(&b->run->losses, "%s: %s", path, strerror(errno));
        b->image_count--;
        return;
    }
    *image = (ntr_bundle_image){.kind = NTR_BUNDLE_RAW, .file = keep_name(b, file)};
    ntr_image_options_init(&image->options);
    image->options.name = keep_name(b, name);
    image->options.bias = address;
    image->options.has_scontext = thread != NULL;
    image->options.scontext = thread ? *thread : 0;
    if (!image->file) b->image_count--;
}

/* Finds the segment that a mapping with this file offset belongs to, and what to add to its addresses. */
static bool bias_of(const char *path, uint64_t start, uint64_t offset, uint64_t *bias) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    bool found = false;
    FILE *file = fopen(path, "re");

    if (file && fread(&header, sizeof header, 1, file) == 1 && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_RISCV &&
        header.e_phentsize == sizeof segment && fseeko(file, (off_t)header.e_phoff, SEEK_SET) == 0)
        for (unsigned i = 0; i < header.e_phnum && !found && fread(&segment, sizeof segment, 1, file) == 1; i++) {
            const uint64_t first = segment.p_offset & ~UINT64_C(0xfff);
            found = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && offset >= first &&
                    offset < segment.p_offset + segment.p_filesz;
            if (found) *bias = start - offset - (segment.p_vaddr - segment.p_offset);
        }
    if (file) fclose(file);
    return found;
}

static void add_process(struct linux_bundle *b, const struct linux_maps *maps, const uint64_t *thread) {
    char line[LINE_BYTES], path[PATH_MAX];
    struct linux_mapping at;
    uint64_t bias;

    for (const char *text = maps->text; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        if (!linux_mapping_of(line, &at) || !at.runs || at.path[0] != '/' || strncmp(at.path, "/dev/", 5) == 0)
            continue;
        snprintf(path, sizeof path, "%.2000s%.2000s", maps->root, at.path);
        if (!bias_of(path, at.start, at.offset, &bias))
            capture_lose(&b->run->losses, "%s: no RISC-V ELF file with this code can be read", at.path);
        else
            add_elf(b, path, bias, thread);
    }
    if (maps->vdso_size) add_bytes(b, "[vdso]", maps->vdso, maps->vdso_bytes, maps->vdso_size, thread);
}

/* The process of a thread: seen by ptrace, or still running. 0: not known. */
static pid_t process_of(struct linux_bundle *b, uint64_t tid, char *comm, size_t size) {
    const struct traced_process *process = &b->run->process;
    char path[PATH_MAX], line[128];
    pid_t pid = 0;

    for (size_t i = 0; i < process->thread_count; i++)
        if ((uint64_t)process->threads[i].tid == tid) {
            snprintf(comm, size, "%s", process->threads[i].comm);
            return process->threads[i].pid;
        }
    snprintf(path, sizeof path, "%.4000s/proc/%" PRIu64 "/status", b->run->devices.root, tid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "Name:\t", 6) == 0) snprintf(comm, size, "%.31s", line + 6);
        if (strncmp(line, "Tgid:\t", 6) == 0) pid = (pid_t)strtol(line + 6, NULL, 10);
    }
    if (file) fclose(file);
    return pid;
}

static const struct linux_maps *maps_of(struct linux_bundle *b, pid_t pid) {
    linux_keep_maps(b->run, pid);
    for (size_t i = 0; i < b->run->map_count; i++)
        if (b->run->maps[i].pid == pid) return &b->run->maps[i];
    return NULL;
}

/* Every thread of the trace has the images of its process; `tasks` and `threads` have their names. */
static int add_threads(struct linux_bundle *b) {
    char path[PATH_MAX], comm[TRACED_COMM];
    size_t unknown = 0;

    snprintf(path, sizeof path, "%s/tasks", ntr_bundle_folder(b->bundle));
    FILE *tasks = fopen(path, "we");
    snprintf(path, sizeof path, "%s/threads", ntr_bundle_folder(b->bundle));
    FILE *threads = fopen(path, "we");
    if (tasks) fputs("ntrace-tasks 1\nposition src context task pid tgid comm\n", tasks);
    for (size_t i = 0; i < b->context_count; i++) {
        const uint64_t tid = b->contexts[i];
        comm[0] = 0;
        const pid_t pid = tid ? process_of(b, tid, comm, sizeof comm) : 0;
        const struct linux_maps *maps = pid ? maps_of(b, pid) : NULL;
        if (maps) add_process(b, maps, &b->contexts[i]);
        unknown += tid && !pid;
        if (tasks && pid)
            fprintf(tasks, "0 - %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %s\n", tid, tid, tid, (int)pid, comm);
        if (threads && pid) fprintf(threads, "%d %" PRIu64 " %s\n", (int)pid, tid, comm);
    }
    const bool good = tasks && threads;
    if (tasks && fclose(tasks) != 0) return cli_fail("%s: %s", path, strerror(errno));
    if (threads && fclose(threads) != 0) return cli_fail("%s: %s", path, strerror(errno));
    if (unknown)
        capture_lose(&b->run->losses, "%zu threads of the trace have ended before their mappings were read", unknown);
    if (b->run->process.pid && !b->context_count) { /* no contexts: all code is of the program */
        const struct linux_maps *maps = maps_of(b, b->run->process.pid);
        if (maps) add_process(b, maps, NULL);
    }
    return good ? CLI_OK : cli_fail("%s: %s", path, strerror(errno));
}

/* ---- the kernel */

static bool copy_file(struct linux_bundle *b, const char *from, const char *to) {
    char path[PATH_MAX];
    size_t size;

    snprintf(path, sizeof path, "%s%s", b->run->devices.root, from);
    if (access(path, R_OK) != 0) return false;
    uint8_t *bytes = linux_read_file(b->run->devices.root, from, &size);
    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(b->bundle), to);
    FILE *out = bytes && size ? fopen(path, "we") : NULL;
    const bool good = out && fwrite(bytes, 1, size, out) == size;
    free(bytes);
    return out && fclose(out) == 0 && good;
}

/* Copies the code [first, last) out of /proc/kcore, an ELF file whose segments are the memory of the kernel. */
static bool add_kernel_code(struct linux_bundle *b, const char *name, uint64_t first, uint64_t last) {
    char path[PATH_MAX];
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    bool found = false;

    if (last <= first || last - first > KERNEL_MAX) return false;
    snprintf(path, sizeof path, "%s/proc/kcore", b->run->devices.root);
    FILE *file = fopen(path, "re");
    uint8_t *bytes = malloc((size_t)(last - first));
    if (file && bytes && fread(&header, sizeof header, 1, file) == 1 && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
        header.e_phentsize == sizeof segment)
        for (unsigned i = 0; i < header.e_phnum && !found; i++) {
            if (fseeko(file, (off_t)(header.e_phoff + i * sizeof segment), SEEK_SET) != 0 ||
                fread(&segment, sizeof segment, 1, file) != 1)
                break;
            if (segment.p_type != PT_LOAD || first < segment.p_vaddr || last - segment.p_vaddr > segment.p_filesz)
                continue;
            found = fseeko(file, (off_t)(segment.p_offset + first - segment.p_vaddr), SEEK_SET) == 0 &&
                    fread(bytes, 1, (size_t)(last - first), file) == last - first;
        }
    if (file) fclose(file);
    if (found) add_bytes(b, name, first, bytes, (size_t)(last - first), NULL);
    free(bytes);
    return found;
}

/* Reads two symbols of the copy of /proc/kallsyms. */
static bool kernel_text(const struct linux_bundle *b, uint64_t *first, uint64_t *last) {
    char path[PATH_MAX], line[LINE_BYTES], address[32], type[8], name[LINE_BYTES];

    *first = *last = 0;
    snprintf(path, sizeof path, "%s/kallsyms", ntr_bundle_folder(b->bundle));
    FILE *file = fopen(path, "re");
    while (file && (!*first || !*last) && fgets(line, sizeof line, file)) {
        linux_word(linux_word(linux_word(line, address, sizeof address), type, sizeof type), name, sizeof name);
        if (strcmp(name, "_stext") == 0) *first = strtoull(address, NULL, 16);
        if (strcmp(name, "_etext") == 0) *last = strtoull(address, NULL, 16);
    }
    if (file) fclose(file);
    return *first && *last > *first;
}

/* Lines of /proc/modules: name, size, uses, users, state, address. */
static void add_modules(struct linux_bundle *b) {
    enum { MODULE_NAME, MODULE_SIZE, MODULE_ADDRESS = 5, MODULE_WORDS };
    char path[PATH_MAX], line[LINE_BYTES], words[MODULE_WORDS][128], label[132];

    snprintf(path, sizeof path, "%s/modules", ntr_bundle_folder(b->bundle));
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *at = line;
        for (unsigned i = 0; i < MODULE_WORDS; i++) at = linux_word(at, words[i], sizeof words[i]);
        const uint64_t size = strtoull(words[MODULE_SIZE], NULL, 10),
                       address = strtoull(words[MODULE_ADDRESS], NULL, 16);
        if (!size || !address || address > UINT64_MAX - size) continue;
        snprintf(label, sizeof label, "[%s]", words[MODULE_NAME]);
        if (!add_kernel_code(b, label, address, address + size))
            capture_lose(&b->run->losses, "the code of module %s cannot be read", words[MODULE_NAME]);
    }
    if (file) fclose(file);
}

static void add_kernel(struct linux_bundle *b) {
    uint64_t first, last;
    ntr_bundle_image *image;

    copy_file(b, "/sys/kernel/notes", "kernel-notes"); /* holds the build id */
    copy_file(b, "/proc/version", "kernel-version");
    copy_file(b, "/proc/modules", "modules");
    if (!copy_file(b, "/proc/kallsyms", "kallsyms") || !kernel_text(b, &first, &last)) {
        capture_lose(
            &b->run->losses,
            "/proc/kallsyms has no addresses (run as root, kptr_restrict): the kernel has no names; give -e vmlinux");
        return;
    }
    if (!add_kernel_code(b, "[kernel]", first, last))
        capture_lose(&b->run->losses, "/proc/kcore cannot be read: the code of the kernel is missing; give -e vmlinux");
    else
        add_modules(b);
    if (!(image = new_image(b))) return;
    *image = (ntr_bundle_image){.kind = NTR_BUNDLE_SYMBOLS, .file = "kallsyms"};
    ntr_image_options_init(&image->options);
    image->options.name = "[kernel.kallsyms]";
}

/* Images of the user: OpenSBI, a vmlinux. They come last, and are seen where they overlap others. */
static int add_given(struct linux_bundle *b) {
    ntr_program *program = cli_program_new();
    ntr_image_info info;
    int status = program ? cli_images_load(&b->run->options->images, NULL, program) : cli_fail("out of memory");

    for (size_t i = 0; status == CLI_OK && ntr_program_image(program, i, &info) == NTR_OK; i++) {
        ntr_bundle_image *image = new_image(b);
        if (!image) break;
        *image = (ntr_bundle_image){.kind = NTR_BUNDLE_ELF, .options = info.options};
        image->options.name = info.options.name ? keep_name(b, info.options.name) : NULL;
        if (ntr_bundle_copy(b->bundle, info.path, image) != NTR_OK)
            status = cli_fail("%s", ntr_bundle_error(b->bundle));
    }
    ntr_program_free(program);
    return status;
}

/* ---- */

static int put_stream(const struct linux_bundle *b) {
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/trace.nex", ntr_bundle_folder(b->bundle));
    FILE *file = fopen(path, "we");
    const bool good = file && fwrite(b->stream, 1, b->size, file) == b->size;
    if (file && fclose(file) == 0 && good) return CLI_OK;
    return cli_fail("%s: %s", path, strerror(errno));
}

static int finish(struct linux_bundle *b, bool wrapped) {
    const struct linux_run *run = b->run;
    const char *const none[] = {NULL};
    ntr_bundle_loss losses[CAPTURE_LOSSES];
    char date[32];
    const time_t now = time(NULL);
    struct tm utc;
    size_t words = 0;

    for (size_t i = 0; i < run->losses.count; i++) losses[i] = (ntr_bundle_loss){0, run->losses.text[i]};
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    while (run->command && run->command[words]) words++;
    const ntr_capture_info capture = {.size = sizeof capture,
                                      .stream = "trace.nex",
                                      .params = b->params,
                                      .tool = "ntrace " NTR_VERSION_TEXT,
                                      .target = "Linux, files of CoreSight devices",
                                      .date = date,
                                      .command = run->command ? (const char *const *)run->command : none,
                                      .command_count = words,
                                      .status = (uint64_t)run->process.status,
                                      .sources = b->sources,
                                      .source_count = b->source_count,
                                      .images = b->images,
                                      .image_count = b->image_count,
                                      .losses = losses,
                                      .loss_count = run->losses.count,
                                      .begins_inside = wrapped};
    if (ntr_bundle_finish(b->bundle, &capture) != NTR_OK) return cli_fail("%s", ntr_bundle_error(b->bundle));
    if (!run->options->quiet)
        cli_note("%s: %zu bytes of trace; next: ntrace profile %s", run->options->bundle, b->size,
                 run->options->bundle);
    return run->losses.count ? CLI_DEFECTS : CLI_OK;
}

static int write_all(struct linux_bundle *b) {
    const bool wrapped = begins_with_barrier(b->run);

    find_params(b);
    if (take_frames(b, wrapped) != CLI_OK || look_at_messages(b) != CLI_OK) return CLI_FAILED;
    if (!b->size) return cli_fail("/dev/%s holds no message; no bundle was written", b->run->sink);
    if (wrapped)
        capture_lose(&b->run->losses, "the buffer has wrapped: it holds the last %zu bytes", b->run->frames_size);
    if (b->run->process.many)
        capture_lose(&b->run->losses, "more than %d threads: the processes of some are not known", TRACED_THREADS);
    find_sources(b);
    ntr_bundle_new(NULL, &b->bundle);
    if (!b->bundle) return cli_fail("out of memory");
    if (ntr_bundle_create(b->bundle, b->run->options->bundle) != NTR_OK)
        return cli_fail("%s", ntr_bundle_error(b->bundle));
    if (put_stream(b) != CLI_OK) return CLI_FAILED;
    add_kernel(b);
    if (add_threads(b) != CLI_OK || add_given(b) != CLI_OK) return CLI_FAILED;
    return finish(b, wrapped);
}

int linux_write_bundle(struct linux_run *run) {
    struct linux_bundle *b = calloc(1, sizeof *b);

    if (!b) return cli_fail("out of memory");
    b->run = run;
    const int status = write_all(b);
    ntr_bundle_free(b->bundle);
    for (size_t i = 0; i < b->name_count; i++) free(b->names[i]);
    free(b->stream);
    free(b);
    return status;
}
