#include "commands/coverage/evidence.h"

#include "commands/shared/exporting.h"
#include "commands/coverage/print_pdf.h"
#include "options/diagnostics.h"
#include "text/object_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <ntrace/decision.h>
#include <ntrace/version.h>
#include <stdio.h>
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

static void remove_file(const char *folder, const char *name) {
    char path[PATH_MAX];
    if (path_of(path, folder, name) == CLI_OK) unlink(path);
}

/* Removes the folder that this command has made, and what it has written into it. */
static void remove_folder(const char *folder) {
    for (size_t i = 0; i < sizeof exported / sizeof exported[0]; i++) remove_file(folder, exported[i].name);
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) remove_file(folder, written[i].name);
    rmdir(folder);
}

int cli_coverage_evidence(const struct cli_coverage_evidence *e, const char *folder) {
    char path[PATH_MAX];
    const bool made = mkdir(folder, 0777) == 0;
    int status = CLI_OK;

    if (!made && errno != EEXIST) return cli_fail("%s: cannot create: %s", folder, strerror(errno));
    for (size_t i = 0; i < sizeof exported / sizeof exported[0] && status == CLI_OK; i++) {
        if (exported[i].decisions && !e->data->decisions) continue;
        status = path_of(path, folder, exported[i].name);
        if (status == CLI_OK) status = cli_exporting_coverage_file(e->data, exported[i].exporter, path);
    }
    for (size_t i = 0; i < sizeof written / sizeof written[0] && status == CLI_OK; i++) {
        struct cli_output out;
        status = path_of(path, folder, written[i].name);
        if (status == CLI_OK) status = cli_output_open(&out, path);
        if (status != CLI_OK) break;
        written[i].write(e, &out);
        status = cli_output_close(&out, CLI_OK);
    }
    if (status == CLI_OK && e->pdf) {
        char pdf[PATH_MAX];
        status = path_of(path, folder, "report.html");
        if (status == CLI_OK) status = path_of(pdf, folder, "report.pdf");
        if (status == CLI_OK) status = cli_print_pdf(path, pdf);
    }
    if (status == CLI_OK && e->evidence->failed) status = cli_fail("out of memory");
    if (status == CLI_FAILED && made) remove_folder(folder);
    return status;
}
