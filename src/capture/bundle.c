#include "capture/bundle.h"
#include "base/allocator.h"
#include "bundle/write_all.h"
#include "capture/elf.h"
#include "capture/harts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CODE_FILE "images/code"

/* What is collected for capture.json. */
struct recorded {
    ntr_bundle *bundle;
    const struct ntr_capture_report *report;
    const ntr_allocator *allocator;
    struct ntr_capture_losses *losses;
    struct ntr_capture_reason *reason;
    ntr_program *program; /* the ELF files, to find out which code bytes they do not hold */
    ntr_bundle_image *images;
    size_t image_count, image_capacity;
    ntr_bundle_source *sources;
    size_t source_count;
};

static ntr_status fail_bundle(const struct recorded *content, ntr_status status) {
    return ntr_capture_fail(content->reason, status, "%s", ntr_bundle_error(content->bundle));
}

static ntr_bundle_image *new_image(struct recorded *content) {
    if (ntr_reserve(content->allocator, (void **)&content->images, &content->image_capacity, content->image_count + 1,
                    sizeof *content->images))
        return NULL;
    ntr_bundle_image *image = &content->images[content->image_count++];
    *image = (ntr_bundle_image){.options.size = sizeof image->options};
    return image;
}

/* ---- ELF files ----------------------------------------------------------------------------------------------------
 */

static bool has_elf(const struct recorded *content, const char *path, uint64_t bias) {
    for (size_t i = 0; i < content->image_count; i++) {
        const ntr_image_options *options = &content->images[i].options;
        if (options->bias == bias && strcmp(options->name, path) == 0) return true;
    }
    return false;
}

/* A file that can no longer be read, or that is damaged, is left out: its code bytes are recorded instead. */
static ntr_status add_elf(struct recorded *content, const char *path, uint64_t bias) {
    ntr_image_options options = {.size = sizeof options, .bias = bias};

    if (has_elf(content, path, bias)) return NTR_OK;
    if (ntr_program_add_elf(content->program, path, &options) != NTR_OK) return NTR_OK;
    ntr_bundle_image *image = new_image(content);
    if (!image) return ntr_capture_fail_memory(content->reason);
    image->options.bias = bias;
    image->options.name = path;
    ntr_status status = ntr_bundle_copy(content->bundle, path, image);
    return status == NTR_OK ? status : fail_bundle(content, status);
}

/* "START LENGTH OFFSET PATH", hexadecimal. */
static ntr_status add_mapping(struct recorded *content, const char *line) {
    struct ntr_capture_elf elf;
    uint64_t bias;
    char *at;
    uint64_t start = strtoull(line, &at, 16);

    strtoull(at, &at, 16);
    uint64_t offset = strtoull(at, &at, 16);
    const char *path = *at == ' ' ? at + 1 : at;
    if (!ntr_capture_elf_read(path, &elf) || !elf.is_riscv) return NTR_OK;
    return ntr_capture_elf_bias(&elf, start, offset, &bias) ? add_elf(content, path, bias) : NTR_OK;
}

/* The guest has ended, so the list of the channel is complete; its lines become strings in place. */
static ntr_status add_mappings(struct recorded *content) {
    struct channel *channel = content->report->harts->channel;
    char *line = channel->maps, *end = line + atomic_load(&channel->head.maps);
    ntr_status status = NTR_OK;

    while (line < end && status == NTR_OK) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) break;
        *stop = 0;
        status = add_mapping(content, line);
        line = stop + 1;
    }
    return status;
}

/* ---- code bytes ---------------------------------------------------------------------------------------------------
 */

/* Do the ELF files hold the same bytes? */
static bool is_in_files(const struct recorded *content, const struct ntr_capture_code_range *range) {
    const uint8_t *bytes = content->report->harts->code.bytes + range->place;
    uint8_t there[4096];

    for (uint64_t at = 0; at < range->length;) {
        size_t want = range->length - at < sizeof there ? (size_t)(range->length - at) : sizeof there;
        size_t n = ntr_program_read(content->program, NULL, NTR_POSITION_ANY, range->address + at, there, want);
        if (n == 0 || memcmp(there, bytes + at, n) != 0) return false;
        at += n;
    }
    return true;
}

static ntr_status add_range(struct recorded *content, const struct ntr_capture_code_range *range, uint64_t offset) {
    ntr_bundle_image *image = new_image(content);

    if (!image) return ntr_capture_fail_memory(content->reason);
    image->kind = NTR_BUNDLE_RAW;
    image->file = CODE_FILE;
    image->offset = offset;
    image->length = range->length;
    image->options.bias = range->address;
    image->options.from = range->from;
    image->options.until = range->until;
    image->options.has_isa = true;
    image->options.isa = content->report->xlen == 32 ? NTR_ISA_RV32 : 0;
    return NTR_OK;
}

static ntr_status add_ranges(struct recorded *content, int file, const char *path) {
    const struct ntr_capture_code *code = &content->report->harts->code;
    uint64_t offset = 0;

    for (size_t i = 0; i < code->range_count; i++) {
        const struct ntr_capture_code_range *range = &code->ranges[i];
        if (is_in_files(content, range)) continue;
        ntr_status status = add_range(content, range, offset);
        if (status != NTR_OK) return status;
        if (!ntr_write_all(file, code->bytes + range->place, range->length))
            return ntr_capture_fail_errno(content->reason, path);
        offset += range->length;
    }
    return NTR_OK;
}

static ntr_status add_code(struct recorded *content) {
    size_t elf_files = content->image_count;
    char path[4096];

    snprintf(path, sizeof path, "%s/" CODE_FILE, ntr_bundle_folder(content->bundle));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return ntr_capture_fail_errno(content->reason, path);
    ntr_status status = add_ranges(content, file, path);
    if (close(file) && status == NTR_OK) status = ntr_capture_fail_errno(content->reason, path);
    if (status == NTR_OK && content->image_count == elf_files) unlink(path);
    return status;
}

/* ---- capture.json -------------------------------------------------------------------------------------------------
 */

static ntr_status add_sources(struct recorded *content) {
    const struct ntr_capture_harts *harts = content->report->harts;
    uint32_t count = ntr_capture_source_lanes(harts->channel);

    content->sources = ntr_alloc(content->allocator, count ? count : 1, sizeof *content->sources);
    if (!content->sources) return ntr_capture_fail_memory(content->reason);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t src;
        if (!ntr_capture_harts_source(harts, i, &src)) continue;
        content->sources[content->source_count++] = (ntr_bundle_source){.src = src, .hart = i};
    }
    return NTR_OK;
}

static void add_loss(struct recorded *content, bool when, const char *what) {
    struct ntr_capture_losses *losses = content->losses;

    if (when && losses->count < NTR_CAPTURE_LOSSES) losses->items[losses->count++].what = what;
}

static void add_losses(struct recorded *content) {
    const struct ntr_capture_harts *harts = content->report->harts;
    const struct channel_head *head = &harts->channel->head;

    add_loss(content, atomic_load(&head->forks), "the program forked; its child processes were not traced");
    add_loss(content, atomic_load(&head->executing),
             "the program executed another program (execve), which was not traced");
    add_loss(content, harts->untraced,
             "SRC is too narrow for all threads; the last ones were not traced (see --src-bits)");
    add_loss(content, harts->lost, "the program has more code than the channel can hold; the trace ends early");
    add_loss(content, atomic_load(&head->lanes) > CHANNEL_LANES,
             "more than 4096 threads at once; the last ones were not traced");
    add_loss(content, harts->rewritten, "code changed while the program ran; the bundle has the newest version only");
    for (size_t i = 0; harts->system && ntr_capture_system_loss(harts->system, i); i++)
        add_loss(content, true, ntr_capture_system_loss(harts->system, i));
}

static ntr_status describe(struct recorded *content) {
    const struct ntr_capture_report *report = content->report;
    const struct ntr_capture_system *system = report->harts->system;
    const ntr_encoder_config *config = report->harts->config;
    bool timestamps = config->params.timestamps == NTR_TIMESTAMPS_ON;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    ntr_capture capture = {
        .size = sizeof capture,
        .stream = report->stream,
        .params = config->params,
        .mode = config->mode == NTR_INST_MODE_BTM ? "btm" : "htm",
        .tool = report->config->tool,
        .target = report->guest->version,
        .date = date,
        .command = report->config->command,
        .status = (uint64_t)report->guest->status,
        .tick = system       ? ntr_capture_system_tick(system)
                : timestamps ? "instruction"
                             : NULL,
        .sources = content->sources,
        .source_count = content->source_count,
        .images = content->images,
        .image_count = content->image_count,
        .losses = content->losses->items,
        .loss_count = content->losses->count,
    };
    /* Readers then need not find out whether there are timestamps. */
    if (!system && !timestamps) capture.params.timestamps = NTR_TIMESTAMPS_OFF;
    while (capture.command[capture.command_count]) capture.command_count++;
    ntr_status status = ntr_bundle_finish(content->bundle, &capture);
    return status == NTR_OK ? status : fail_bundle(content, status);
}

static ntr_status fill(struct recorded *content) {
    ntr_status status = add_mappings(content);
    if (status == NTR_OK) status = add_code(content);
    if (status == NTR_OK) status = add_sources(content);
    if (status != NTR_OK) return status;
    add_losses(content);
    return describe(content);
}

ntr_status ntr_capture_bundle_finish(ntr_bundle *bundle, const struct ntr_capture_report *report,
                                     struct ntr_capture_losses *losses, struct ntr_capture_reason *reason) {
    const ntr_allocator *allocator = report->config->allocator;
    struct recorded content = {.bundle = bundle,
                              .report = report,
                              .allocator = allocator,
                              .losses = losses,
                              .reason = reason,
                              .program = ntr_program_new(allocator)};

    ntr_status status = content.program ? fill(&content) : ntr_capture_fail_memory(reason);
    ntr_program_free(content.program);
    ntr_dealloc(allocator, content.images);
    ntr_dealloc(allocator, content.sources);
    return status;
}
