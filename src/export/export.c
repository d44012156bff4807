#include "base/config.h"
#include "export/export.h"

#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

#define NTR_EXPORTER(symbol) extern const ntr_exporter ntr_exporter_##symbol;
#include "export/exporters.def"
#undef NTR_EXPORTER

static const ntr_exporter *const exporters[] = {
#define NTR_EXPORTER(symbol) &ntr_exporter_##symbol,
#include "export/exporters.def"
#undef NTR_EXPORTER
};

const ntr_exporter *ntr_exporter_at(size_t index) {
    return index < sizeof exporters / sizeof exporters[0] ? exporters[index] : NULL;
}

enum { ALIASES = sizeof((ntr_exporter *)NULL)->aliases / sizeof(char *) };

const char *ntr_exporter_alias(const ntr_exporter *exporter, size_t index) {
    return index < ALIASES ? exporter->aliases[index] : NULL;
}

static bool is_called(const ntr_exporter *exporter, const char *name) {
    const char *alias;
    if (strcmp(exporter->name, name) == 0) return true;
    for (size_t i = 0; (alias = ntr_exporter_alias(exporter, i)); i++)
        if (strcmp(alias, name) == 0) return true;
    return false;
}

const ntr_exporter *ntr_exporter_find(const char *family, const char *name) {
    for (size_t i = 0; i < sizeof exporters / sizeof exporters[0]; i++)
        if (strcmp(exporters[i]->family, family) == 0 && is_called(exporters[i], name)) return exporters[i];
    return NULL;
}

const char *ntr_exporter_name(const ntr_exporter *exporter) {
    return exporter->name;
}

const char *ntr_exporter_summary(const ntr_exporter *exporter) {
    return exporter->summary;
}

const char *ntr_exporter_family(const ntr_exporter *exporter) {
    return exporter->family;
}

unsigned ntr_exporter_needs(const ntr_exporter *exporter) {
    return exporter->needs;
}

const char *ntr_exporter_second(const ntr_exporter *exporter, const char **name) {
    *name = exporter->second_name;
    return exporter->second_text;
}

static bool complete(const ntr_exporter *exporter, const ntr_analysis *analysis, const ntr_output *output) {
    if ((exporter->needs & NTR_NEEDS_DECISIONS) && !analysis->decisions) return false;
    if (exporter->needs & NTR_NEEDS_COVERAGE) return analysis->coverage && output->write;
    if (!analysis->program || !analysis->debug || !analysis->functions) return false;
    if ((exporter->needs & NTR_NEEDS_TALLY) && !analysis->tally) return false;
    if ((exporter->needs & NTR_NEEDS_TREE || analysis->has_stacks) && !analysis->tree) return false;
    return exporter->needs & NTR_NEEDS_FILE ? output->path != NULL : output->write != NULL;
}

/* Selects the image for formats that describe a single binary. */
static ntr_status choose_image(ntr_export *x) {
    x->image_number = x->analysis.image;
    if (x->analysis.has_image) return ntr_program_image(x->analysis.program, x->analysis.image, &x->image);
    for (size_t i = 0; ntr_program_image(x->analysis.program, x->image_number = i, &x->image) == NTR_OK; i++)
        if (x->image.path) return NTR_OK;
    return NTR_E_NO_IMAGE;
}

static ntr_status start(ntr_export *x) {
    if (x->exporter->needs & NTR_NEEDS_IMAGE) {
        ntr_status status = choose_image(x);
        if (status) return status == NTR_END ? NTR_E_NO_IMAGE : status;
    }
    if (x->exporter->state_size) {
        x->state = ntr_alloc(x->allocator, 1, x->exporter->state_size);
        if (!x->state) return NTR_E_MEMORY;
    }
    ntr_status status = x->exporter->begin ? x->exporter->begin(x) : NTR_OK;
    return status ? status : x->out.status;
}

/* Records the first error. */
static ntr_status ended(ntr_export *x, ntr_status status) {
    if (status >= 0 || x->failed != NTR_OK) return status;
    x->failed = status;
    if (status == x->out.status)
        snprintf(x->error, sizeof x->error, "the output cannot be written: %s", ntr_status_text(status));
    return status;
}

ntr_status ntr_export_new(const ntr_exporter *exporter, const ntr_analysis *given, const ntr_output *given_output,
                          ntr_export **out) {
    *out = NULL;
    ntr_analysis analysis;
    ntr_output output;
    ntr_status status = ntr_config_load(&analysis, sizeof analysis, given);
    if (status == NTR_OK) status = ntr_config_load(&output, sizeof output, given_output);
    if (status == NTR_OK && !complete(exporter, &analysis, &output)) status = NTR_E_INVALID;
    if (status != NTR_OK) return status;
    ntr_export *x = ntr_alloc(NULL, 1, sizeof *x);
    if (!x) return NTR_E_MEMORY;
    x->exporter = exporter;
    x->analysis = analysis;
    x->path = output.path;
    x->out.output = output;
    status = start(x);
    if (status == NTR_E_IO) { /* later calls return it: only an export has a reason */
        (void)ended(x, status);
        status = NTR_OK;
    }
    if (status == NTR_OK)
        *out = x;
    else
        ntr_export_free(x);
    return status;
}

ntr_status ntr_export_feed(ntr_export *x, const ntr_event *events, size_t count) {
    if (x->failed != NTR_OK) return x->failed;
    ntr_status status = x->exporter->events ? x->exporter->events(x, events, count) : NTR_OK;
    return ended(x, status ? status : x->out.status);
}

bool ntr_export_follows(const ntr_export *x) {
    return x->exporter->follows && x->exporter->follows(x);
}

ntr_status ntr_export_finish(ntr_export *x) {
    if (x->failed != NTR_OK) return x->failed;
    ntr_status status = x->exporter->end ? x->exporter->end(x) : NTR_OK;
    return ended(x, status ? status : ntr_out_flush(&x->out));
}

const char *ntr_export_error(const ntr_export *x) {
    if (x->failed == NTR_OK || x->error[0]) return x->error;
    return ntr_status_text(x->failed);
}

const char *ntr_export_loss(const ntr_export *x) {
    return x->loss;
}

void ntr_export_abandon(ntr_export *x) {
    if (x && x->exporter->abandon) x->exporter->abandon(x);
}

void ntr_export_free(ntr_export *x) {
    if (!x) return;
    if (x->exporter->release && x->state) x->exporter->release(x);
    ntr_dealloc(x->allocator, x->state);
    ntr_dealloc(x->allocator, x);
}
