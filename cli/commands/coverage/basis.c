/* Files, digests, parameters and losses of the evidence. */
#include "commands/coverage/basis.h"

#include "io/digest.h"
#include "io/module.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void add_file(struct cli_evidence *e, const char *kind, const char *name) {
    char digest[CLI_DIGEST_TEXT] = "";

    if (e->count == e->capacity) {
        size_t capacity = e->capacity ? 2 * e->capacity : 64;
        struct cli_evidence_file *files = realloc(e->files, capacity * sizeof *files);
        if (!files) {
            e->failed = true;
            return;
        }
        e->files = files;
        e->capacity = capacity;
    }
    cli_digest_file(name, digest);
    struct cli_evidence_file *file = &e->files[e->count++];
    *file = (struct cli_evidence_file){strdup(kind), strdup(name), strdup(digest)};
    if (!file->kind || !file->name || !file->digest) e->failed = true;
}

static void add_note(struct cli_evidence *e, const char *path, const char *text) {
    char line[600];

    snprintf(line, sizeof line, "%s: %s", path, text);
    if (e->note_count == e->note_capacity) {
        size_t capacity = e->note_capacity ? 2 * e->note_capacity : 16;
        char **notes = realloc(e->notes, capacity * sizeof *notes);
        if (!notes) {
            e->failed = true;
            return;
        }
        e->notes = notes;
        e->note_capacity = capacity;
    }
    e->notes[e->note_count++] = strdup(line);
}

/* Adds the files of a bundle, and those of its folder "images". */
static void add_folder(struct cli_evidence *e, const char *folder, unsigned depth) {
    struct dirent **names;
    char path[PATH_MAX];
    struct stat about;
    int count = scandir(folder, &names, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        bool good = names[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof path && stat(path, &about) == 0;
        /* the index is made again when it is missing */
        if (good && S_ISREG(about.st_mode) && strcmp(names[i]->d_name, "index") != 0) add_file(e, "trace", path);
        if (good && S_ISDIR(about.st_mode) && depth == 0) add_folder(e, path, 1);
        free(names[i]);
    }
    if (count >= 0) free(names);
}

/* Adds the files of debug information, which several traces may have. */
static void add_debug(struct cli_evidence *e, ntr_debug_info *debug, size_t image) {
    const char *path;

    for (size_t i = 0; (path = ntr_debug_info_path(debug, image, i)); i++) {
        size_t k = 0;
        while (k < e->count && strcmp(e->files[k].name, path) != 0) k++;
        if (k == e->count) add_file(e, "debug", path);
    }
}

void cli_evidence_trace(struct cli_evidence *e, const char *path, const struct cli_trace *trace, ntr_debug_info *debug,
                        uint64_t gaps) {
    struct stat about;
    ntr_image_info info;
    char text[100];

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        add_folder(e, path, 0);
    else
        add_file(e, "trace", path);
    for (size_t i = 0; ntr_program_image(trace->program, i, &info) == NTR_OK; i++) {
        if (info.path && strncmp(info.path, path, strlen(path)) != 0)
            add_file(e, "binary", cli_module_source(info.path));
        add_debug(e, debug, i);
    }
    snprintf(text, sizeof text, "%" PRIu64 " gaps: what was executed in them is not known", gaps);
    if (gaps) add_note(e, path, text);
    const ntr_capture_info *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;
    for (size_t i = 0; capture && i < capture->loss_count; i++) add_note(e, path, capture->losses[i].what);
}

void cli_evidence_input(struct cli_evidence *e, const char *path) {
    if (path) add_file(e, "input", path);
}

void cli_evidence_sources(struct cli_evidence *e, ntr_coverage *coverage) {
    size_t count;
    const ntr_cover_line *lines = ntr_coverage_lines(coverage, &count);

    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(lines[i].file, lines[i - 1].file) != 0) add_file(e, "source", lines[i].file);
}

void cli_evidence_parameters(const ntr_params *params,
                             void (*take)(struct cli_output *out, size_t index, const char *name, const char *value),
                             struct cli_output *out) {
#define NTR_PARAM(id, type, member, name, ...) name,
    static const char *const names[] = {
#include <ntrace/params.def>
    };
#undef NTR_PARAM
    char text[64];
    size_t index = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ntr_params_get(params, names[i], text, sizeof text) > 0) take(out, index++, names[i], text);
}

static void write_parameter(struct cli_output *out, size_t index, const char *name, const char *value) {
    cli_output_print(out, "%s\"%s\":", index ? "," : "", name);
    cli_output_json(out, value);
}

static void write_traces(const struct cli_evidence *e, struct cli_output *out) {
    for (size_t i = 0; i < e->test_count; i++) {
        cli_output_text(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        cli_output_json(out, e->tests[i].trace);
        cli_output_text(out, ",\"test\":");
        cli_output_json(out, e->tests[i].name);
        cli_output_text(out, ",\"parameters\":{");
        cli_evidence_parameters(&e->tests[i].params, write_parameter, out);
        cli_output_text(out, "}}");
    }
}

static void write_others(const struct cli_source_match *match, struct cli_output *out) {
    for (size_t i = 0; match && i < match->other_count; i++) {
        cli_output_text(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        cli_output_json(out, match->others[i].file);
        cli_output_text(out, ",\"binary\":");
        cli_output_json(out, match->others[i].program);
        cli_output_print(out, ",\"reason\":\"%s\"}", match->others[i].differs ? "md5" : "newer");
    }
}

void cli_evidence_write(struct cli_evidence *e, struct cli_output *out) {
    cli_output_text(out, "\"traces\":[");
    if (!e->failed) write_traces(e, out);
    cli_output_text(out, "],\n");
    cli_output_text(out, "\"files\":[");
    for (size_t i = 0; i < e->count && !e->failed; i++) {
        cli_output_print(out, "%s\n{\"kind\":\"%s\",\"name\":", i ? "," : "", e->files[i].kind);
        cli_output_json(out, e->files[i].name);
        if (*e->files[i].digest)
            cli_output_print(out, ",\"sha256\":\"%s\"}", e->files[i].digest);
        else
            cli_output_text(out, ",\"sha256\":null}");
    }
    cli_output_text(out, "],\n\"other_sources\":[");
    write_others(e->match, out);
    cli_output_text(out, "],\n\"losses\":[");
    for (size_t i = 0; i < e->note_count && !e->failed; i++) {
        if (i) cli_output_text(out, ",");
        cli_output_json(out, e->notes[i] ? e->notes[i] : "");
    }
    cli_output_text(out, "]");
}

void cli_evidence_release(struct cli_evidence *e) {
    for (size_t i = 0; i < e->test_count; i++) {
        free(e->tests[i].name);
        free(e->tests[i].trace);
        ntr_coverage_free(e->tests[i].coverage);
    }
    free(e->tests);
    for (size_t i = 0; i < e->count; i++) {
        free(e->files[i].kind);
        free(e->files[i].name);
        free(e->files[i].digest);
    }
    for (size_t i = 0; i < e->note_count; i++) free(e->notes[i]);
    free(e->files);
    free(e->notes);
}
