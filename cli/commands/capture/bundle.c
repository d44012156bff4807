#include "io/debug_files.h"
#include "commands/capture/run.h"
#include "options/diagnostics.h"

#include <ntrace/version.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- the folder */

static int fail_bundle(const struct capture_content *c, ntr_status status) {
    const char *why = ntr_bundle_error(c->bundle);
    return cli_fail("%s", *why ? why : ntr_status_text(status));
}

static int open_bundle(struct capture_content *c, const char *path) {
    ntr_bundle_new(NULL, &c->bundle);
    if (!c->bundle) return cli_fail("out of memory");
    const ntr_status status = ntr_bundle_create(c->bundle, path);
    return status == NTR_OK ? CLI_OK : fail_bundle(c, status);
}

static int load_images(struct capture_content *c, const struct cli_images *images) {
    ntr_image_info info;

    c->program = cli_program_new();
    if (!c->program) return cli_fail("out of memory");
    if (cli_images_load(images, NULL, c->program) != CLI_OK) return CLI_FAILED;
    for (size_t i = 0; ntr_program_image(c->program, i, &info) == NTR_OK; i++)
        if (!info.path)
            return cli_fail("%s: a bundle takes ELF files; give other images to 'ntrace decode'", info.name);
    return CLI_OK;
}

static int add_images(struct capture_content *c) {
    ntr_image_info info;

    for (size_t i = 0; ntr_program_image(c->program, i, &info) == NTR_OK && c->image_count < CAPTURE_IMAGES; i++) {
        ntr_bundle_image *image = &c->images[c->image_count++];
        *image = (ntr_bundle_image){.kind = NTR_BUNDLE_ELF, .options = info.options};
        const ntr_status status = ntr_bundle_copy(c->bundle, info.path, image);
        if (status != NTR_OK) return fail_bundle(c, status);
    }
    return CLI_OK;
}

static int write_file(const struct capture_content *c, const char *name, const void *bytes, size_t size) {
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(c->bundle), name);
    FILE *file = fopen(path, "we");
    const bool good = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) == 0 && good) return CLI_OK;
    return cli_fail("%s: %s", path, strerror(errno));
}

/* All control registers as they are after the capture: names and values, for reports of problems. */
static int write_registers(const struct capture_content *c) {
    const ntr_system *system = ntr_target_components(c->capture->target);
    ntr_system_component one;
    char *text = NULL, name[48];
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (!file) return cli_fail("out of memory");
    fputs("{", file);
    for (size_t i = 0; ntr_system_component_get(system, i, &one) == NTR_OK; i++) {
        fprintf(file, "%s\n\"%s\": {\"base\": \"0x%" PRIx64 "\"", i ? "," : "", one.name, one.base);
        for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++) {
            const ntr_register_info *info = ntr_register_get(reg);
            unsigned number;
            uint32_t word;
            if (info->count > 1 || reg == NTR_REGISTER_RAM_DATA || reg == NTR_REGISTER_TMC_RRD ||
                ntr_register_at(one.kind, info->offset, &number) != reg)
                continue;
            if (ntr_target_register(c->capture->target, i, (ntr_register)reg, 0, &word) != NTR_OK) continue;
            ntr_register_name((ntr_register)reg, 0, name, sizeof name);
            fprintf(file, ", \"%s\": \"0x%08" PRIx32 "\"", name, word);
        }
        fputs("}", file);
    }
    fputs("\n}\n", file);
    int status = fclose(file) == 0 ? write_file(c, "registers.json", text, size) : cli_fail("out of memory");
    free(text);
    return status;
}

static int finish(struct capture_content *c) {
    ntr_bundle_loss losses[CAPTURE_LOSSES];
    char date[32], target[256];
    const time_t now = time(NULL);
    struct tm utc;
    const char *const command[] = {NULL};

    for (size_t i = 0; i < c->capture->losses->count; i++)
        losses[i] = (ntr_bundle_loss){0, c->capture->losses->text[i]};
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(target, sizeof target, "board, Trace Control 1.0, %s", c->capture->how);
    ntr_capture_info capture = {
        .size = sizeof capture,
        .stream = "trace.nex",
        .params = c->params,
        .mode = c->mode == NTR_INST_MODE_BTM   ? "btm"
                : c->mode == NTR_INST_MODE_HTM ? "htm"
                                               : NULL,
        .tool = "ntrace " NTR_VERSION_TEXT,
        .target = target,
        .date = date,
        .command = command,
        .tick = c->params.timestamps == NTR_TIMESTAMPS_ON ? "cycle" : NULL,
        .sources = c->sources,
        .source_count = c->source_count,
        .images = c->images,
        .image_count = c->image_count,
        .losses = losses,
        .loss_count = c->capture->losses->count,
    };
    const ntr_status status = ntr_bundle_finish(c->bundle, &capture);
    return status == NTR_OK ? CLI_OK : fail_bundle(c, status);
}

static int write_bundle(struct capture_content *c) {
    if (open_bundle(c, c->capture->path) != CLI_OK) return CLI_FAILED;
    if (write_file(c, "trace.nex", c->bytes, c->size) != CLI_OK || write_registers(c) != CLI_OK) return CLI_FAILED;
    return add_images(c) == CLI_OK ? finish(c) : CLI_FAILED;
}

static int take(struct capture_content *c) {
    if (load_images(c, c->capture->images) != CLI_OK || capture_content_stream(c) != CLI_OK) return CLI_FAILED;
    if (!c->size) return CLI_OK;
    if (capture_content_encoders(c) != CLI_OK) return CLI_FAILED;
    const unsigned xlen = ntr_program_xlen(c->program);
    if (xlen) c->params.xlen = (uint8_t)xlen;
    capture_content_examine(c);
    if (write_bundle(c) != CLI_OK) return CLI_FAILED;
    return c->capture->losses->count ? CLI_DEFECTS : CLI_OK;
}

static void free_content(struct capture_content *c) {
    ntr_bundle_free(c->bundle);
    cli_program_close(c->program);
    free(c->bytes);
    free(c);
}

int capture_bundle_check(const char *path, const struct cli_images *images) {
    struct capture_content *c = calloc(1, sizeof *c);

    if (!c) return cli_fail("out of memory");
    const int status = load_images(c, images) == CLI_OK ? open_bundle(c, path) : CLI_FAILED;
    free_content(c); /* and the folder */
    return status;
}

int capture_bundle_write(const struct capture_bundle *capture, uint64_t *bytes) {
    struct capture_content *c = calloc(1, sizeof *c);

    if (!c) return cli_fail("out of memory");
    c->capture = capture;
    int status = take(c);
    *bytes = c->size;
    free_content(c);
    return status;
}
