#include "commands/coverage/evidence.h"

#include "commands/shared/exporting.h"
#include "commands/coverage/print_pdf.h"
#include "io/atomic_file.h"
#include "options/diagnostics.h"
#include "text/object_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <ntrace/decision.h>
#include <ntrace/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files that exporters write. */
static const struct {
    const char *name, *exporter;
    bool decisions;
} exported[] = {
    {"lines.json", "json", false},
    {"lines.txt", "summary", false},
    {"cobertura.xml", "cobertura", false},
    {"lcov.info", "lcov", false},
    {"decisions.json", "decisions-json", true},
    {"decisions.txt", "decisions", true},
};

static void write_manifest(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_output_text(out, "{\"format\":1,\"tool\":\"ntrace " NTR_VERSION_TEXT "\",\n\"parser\":");
    cli_output_json(out, e->data->decisions ? ntr_decisions_parser(e->data->decisions) : "");
    cli_output_text(out, ",\n\"without_decisions\":");
    cli_output_json(out, e->without_decisions ? e->without_decisions : "");
    cli_output_text(out, ",\n\"only\":[");
    for (size_t i = 0; i < e->only_count; i++) {
        if (i) cli_output_text(out, ",");
        cli_output_json(out, e->only[i]);
    }
    cli_output_print(out, "],\n\"gaps\":%" PRIu64 ",\n", ntr_coverage_gaps(e->data->coverage));
    cli_evidence_write(e->evidence, out);
    if (*e->data->quality) cli_output_text(out, ",\n\"quality\":");
    if (*e->data->quality) cli_output_text(out, *e->data->quality);
    cli_output_text(out, "}\n");
}

static void write_object(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_object_text(out, e->object, true, *e->data->quality);
}

static void write_tests(const struct cli_coverage_evidence *e, struct cli_output *out) {
    cli_evidence_write_tests(e->evidence, e->data->coverage, e->data->decisions, out);
}

static const struct {
    const char *name;
    void (*write)(const struct cli_coverage_evidence *e, struct cli_output *out);
} written[] = {
    {"object.json", write_object},      {"justified.txt", cli_coverage_justified}, {"tests.json", write_tests},
    {"report.html", cli_coverage_page}, {"evidence.json", write_manifest},
};

static int path_of(char path[PATH_MAX], const char *folder, const char *name) {
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);

    return length > 0 && length < PATH_MAX ? CLI_OK : cli_fail("%s: the path is too long", folder);
}

enum { EXPORTED = sizeof exported / sizeof exported[0], WRITTEN = sizeof written / sizeof written[0] };

/* The names of all files that a folder of evidence can have. The last one is the manifest, without which it is none. */
static const char *name_at(size_t index) {
    if (index < EXPORTED) return exported[index].name;
    if (index == EXPORTED) return "report.pdf";
    return index - EXPORTED - 1 < WRITTEN ? written[index - EXPORTED - 1].name : NULL;
}

static void remove_files(const char *folder) {
    char path[PATH_MAX];

    for (size_t i = 0; name_at(i); i++)
        if (path_of(path, folder, name_at(i)) == CLI_OK) unlink(path);
}

static int check_inputs(const char *folder) {
    char path[PATH_MAX];

    for (size_t i = 0; name_at(i); i++) {
        if (path_of(path, folder, name_at(i)) != CLI_OK) return CLI_FAILED;
        if (cli_input_guard_contains(path))
            return cli_fail("%s: is an input of this command; expected another folder", path);
    }
    return CLI_OK;
}

static int write_files(const struct cli_coverage_evidence *e, const char *folder) {
    char path[PATH_MAX], pdf[PATH_MAX];
    int status = CLI_OK;

    for (size_t i = 0; i < EXPORTED && status == CLI_OK; i++) {
        if (exported[i].decisions && !e->data->decisions) continue;
        status = path_of(path, folder, exported[i].name);
        if (status == CLI_OK) status = cli_exporting_coverage_file(e->data, exported[i].exporter, path);
    }
    for (size_t i = 0; i < WRITTEN && status == CLI_OK; i++) {
        struct cli_output out;
        status = path_of(path, folder, written[i].name);
        if (status == CLI_OK) status = cli_output_open(&out, path);
        if (status != CLI_OK) break;
        written[i].write(e, &out);
        status = cli_output_close(&out, CLI_OK);
    }
    if (status == CLI_OK && e->pdf) status = path_of(path, folder, "report.html");
    if (status == CLI_OK && e->pdf) status = path_of(pdf, folder, "report.pdf");
    if (status == CLI_OK && e->pdf) status = cli_print_pdf(path, pdf);
    return status == CLI_OK && e->evidence->failed ? cli_fail("out of memory") : status;
}

/* Moves the files to their place, in which files of earlier evidence may be. Until the manifest comes last, there is
 * none, so that nobody takes a mixture for evidence. */
static int move_files(const char *from, const char *folder) {
    char path[PATH_MAX], target[PATH_MAX];

    if (path_of(target, folder, written[WRITTEN - 1].name) == CLI_OK) unlink(target);
    for (size_t i = 0; name_at(i); i++) {
        if (path_of(path, from, name_at(i)) != CLI_OK || path_of(target, folder, name_at(i)) != CLI_OK)
            return CLI_FAILED;
        if (rename(path, target) == 0) continue;
        if (errno == ENOENT && (unlink(target) == 0 || errno == ENOENT)) continue; /* not part of this evidence */
        return cli_fail("%s: cannot be written: %s; this folder is incomplete", target, strerror(errno));
    }
    return CLI_OK;
}

int cli_coverage_evidence(const struct cli_coverage_evidence *e, const char *folder) {
    char fresh[PATH_MAX];
    const bool made = mkdir(folder, 0777) == 0;

    if (!made && errno != EEXIST) return cli_fail("%s: cannot create: %s", folder, strerror(errno));
    int status = check_inputs(folder);
    if (status == CLI_OK) status = path_of(fresh, folder, "new.XXXXXX");
    if (status == CLI_OK && !mkdtemp(fresh)) status = cli_fail("%s: cannot write: %s", folder, strerror(errno));
    if (status == CLI_OK) {
        status = write_files(e, fresh);
        if (status == CLI_OK) status = move_files(fresh, folder);
        remove_files(fresh);
        rmdir(fresh);
    }
    if (status == CLI_FAILED && made) rmdir(folder);
    return status;
}
