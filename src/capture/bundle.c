#include "capture/bundle.h"
#include "options/diagnostics.h"
#include "capture/elf.h"

#include <ntrace/version.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CODE_FILE "images/code"

enum { LOSSES = 300 }; /* more than a system tells, and our own */

/* What is put together for capture.json. */
struct content {
    ntr_bundle *bundle;
    const struct run_report *report;
    ntr_program *program; /* the ELF files, to see which code bytes they do not have */
    ntr_bundle_image *images;
    size_t image_count;
    ntr_bundle_source *sources;
    size_t source_count;
    ntr_bundle_loss losses[LOSSES];
    size_t loss_count;
};

static int refuse(const struct content *content) {
    return cli_fail("%s", ntr_bundle_error(content->bundle));
}

static ntr_bundle_image *new_image(struct content *content) {
    ntr_bundle_image *moved = realloc(content->images, (content->image_count + 1) * sizeof *moved);

    if (!moved) return NULL;
    content->images = moved;
    ntr_bundle_image *image = &moved[content->image_count++];
    *image = (ntr_bundle_image){.options.size = sizeof image->options};
    return image;
}

/* ---- ELF files ----------------------------------------------------------------------------------------------- */

static bool has_elf(const struct content *content, const char *path, uint64_t bias) {
    for (size_t i = 0; i < content->image_count; i++) {
        const ntr_image_options *options = &content->images[i].options;
        if (options->bias == bias && strcmp(options->name, path) == 0) return true;
    }
    return false;
}

/* Files that can no longer be read, or that nobody can use, are left out: the code bytes do without. */
static int add_elf(struct content *content, const char *path, uint64_t bias) {
    ntr_image_options options = {.size = sizeof options, .bias = bias};

    if (has_elf(content, path, bias)) return CLI_OK;
    if (ntr_program_add_elf(content->program, path, &options) != NTR_OK) return CLI_OK;
    ntr_bundle_image *image = new_image(content);
    if (!image) return cli_fail("out of memory");
    image->options.bias = bias;
    image->options.name = path;
    return ntr_bundle_copy(content->bundle, path, image) == NTR_OK ? CLI_OK : refuse(content);
}

/* "START LENGTH OFFSET PATH", hexadecimal; changes the line. */
static int add_mapping(struct content *content, char *line) {
    struct run_elf elf;
    uint64_t bias;
    char *at;
    uint64_t start = strtoull(line, &at, 16);

    strtoull(at, &at, 16);
    uint64_t offset = strtoull(at, &at, 16);
    char *path = *at == ' ' ? at + 1 : at;
    if (!run_elf_read(path, &elf) || !elf.is_riscv || !run_elf_bias(&elf, start, offset, &bias)) return CLI_OK;
    return add_elf(content, path, bias);
}

/* The channel's list is closed now; its lines become strings in place. */
static int add_mappings(struct content *content) {
    struct channel *channel = content->report->harts->channel;
    char *line = channel->maps, *end = line + atomic_load(&channel->head.maps);
    int status = CLI_OK;

    while (line < end && status == CLI_OK) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) break;
        *stop = 0;
        status = add_mapping(content, line);
        line = stop + 1;
    }
    return status;
}

/* ---- code bytes ------------------------------------------------------------------------------------------------ */

/* Whether the ELF files hold the same. */
static bool is_in_files(const struct content *content, const struct run_code_piece *piece) {
    const uint8_t *bytes = content->report->code->bytes + piece->place;
    uint8_t there[4096];

    for (uint64_t at = 0; at < piece->length;) {
        size_t want = piece->length - at < sizeof there ? (size_t)(piece->length - at) : sizeof there;
        size_t n = ntr_program_read(content->program, NULL, NTR_POSITION_ANY, piece->address + at, there, want);
        if (n == 0 || memcmp(there, bytes + at, n) != 0) return false;
        at += n;
    }
    return true;
}

static int add_pieces(struct content *content, FILE *file) {
    const struct run_code *code = content->report->code;
    uint64_t offset = 0;

    for (uint32_t i = 0; i < code->piece_count; i++) {
        const struct run_code_piece *piece = &code->pieces[i];
        if (is_in_files(content, piece)) continue;
        ntr_bundle_image *image = new_image(content);
        if (!image) return cli_fail("out of memory");
        image->kind = NTR_BUNDLE_RAW;
        image->file = CODE_FILE;
        image->offset = offset;
        image->length = piece->length;
        image->options.bias = piece->address;
        image->options.from = piece->from;
        image->options.until = piece->until;
        image->options.has_isa = true;
        image->options.isa = content->report->xlen == 32 ? NTR_ISA_RV32 : 0;
        fwrite(code->bytes + piece->place, 1, piece->length, file);
        offset += piece->length;
    }
    return CLI_OK;
}

static int add_code(struct content *content) {
    char path[4096];

    snprintf(path, sizeof path, "%s/" CODE_FILE, ntr_bundle_folder(content->bundle));
    FILE *file = fopen(path, "wbe");
    if (!file) return cli_fail("%s: %s", path, strerror(errno));
    int status = add_pieces(content, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) || failed) return cli_fail("%s: %s", path, strerror(errno));
    if (status == CLI_OK && (!content->image_count || content->images[content->image_count - 1].kind == NTR_BUNDLE_ELF))
        unlink(path);
    return status;
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

static int add_sources(struct content *content) {
    const struct run_harts *harts = content->report->harts;
    uint32_t count = run_harts_count(harts);

    content->sources = calloc(count ? count : 1, sizeof *content->sources);
    if (!content->sources) return cli_fail("out of memory");
    for (uint32_t i = 0; i < count; i++) {
        uint16_t src;
        if (!run_harts_source(harts, i, &src)) continue;
        content->sources[content->source_count++] = (ntr_bundle_source){.src = src, .hart = i};
    }
    return CLI_OK;
}

static void add_loss(struct content *content, bool when, const char *what) {
    if (!when) return;
    cli_note("%s", what);
    content->losses[content->loss_count++].what = what;
}

static void add_losses(struct content *content) {
    const struct run_harts *harts = content->report->harts;
    const struct channel_head *head = &harts->channel->head;

    add_loss(content, atomic_load(&head->forks), "the program forked; its child processes were not traced");
    add_loss(content, atomic_load(&head->executing),
             "the program executed another program (execve), which was not traced");
    add_loss(content, harts->untraced,
             "SRC is too narrow for all threads; the last ones were not traced (see --src-bits)");
    add_loss(content, harts->lost, "the program has more code than can be told; the trace ends early");
    add_loss(content, atomic_load(&head->lanes) > CHANNEL_LANES,
             "more than 4096 threads at once; the last ones were not traced");
    add_loss(content, harts->rewritten, "code changed while the program ran; the bundle has the newest version only");
    for (size_t i = 0; harts->system && run_system_loss(harts->system, i); i++)
        add_loss(content, content->loss_count < LOSSES, run_system_loss(harts->system, i));
}

static int describe(struct content *content) {
    const struct run_report *report = content->report;
    const ntr_encoder_config *config = report->harts->config;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    ntr_capture capture = {
        .size = sizeof capture,
        .stream = report->stream,
        .params = config->params,
        .mode = config->mode == NTR_INST_MODE_BTM ? "btm" : "htm",
        .tool = "ntrace " NTR_VERSION_TEXT,
        .target = report->guest->version,
        .date = date,
        .command = (const char *const *)report->command,
        .status = (uint64_t)report->guest->status,
        .tick = report->harts->system                          ? run_system_tick(report->harts->system)
                : config->params.timestamps == NTR_TIMESTAMPS_ON ? "instruction"
                                                                 : NULL,
        .sources = content->sources,
        .source_count = content->source_count,
        .images = content->images,
        .image_count = content->image_count,
        .losses = content->losses,
        .loss_count = content->loss_count,
    };
    /* Who reads it need not look for any. */
    if (!report->harts->system && !capture.tick) capture.params.timestamps = NTR_TIMESTAMPS_OFF;
    while (report->command[capture.command_count]) capture.command_count++;
    return ntr_bundle_finish(content->bundle, &capture) == NTR_OK ? CLI_OK : refuse(content);
}

static int fill(struct content *content) {
    int status = add_mappings(content);
    if (status == CLI_OK) status = add_code(content);
    if (status == CLI_OK) status = add_sources(content);
    if (status != CLI_OK) return status;
    add_losses(content);
    return describe(content);
}

int run_bundle_finish(ntr_bundle *bundle, const struct run_report *report) {
    struct content content = {.bundle = bundle, .report = report, .program = ntr_program_new(NULL)};

    int status = content.program ? fill(&content) : cli_fail("out of memory");
    ntr_program_free(content.program);
    free(content.images);
    free(content.sources);
    return status;
}
