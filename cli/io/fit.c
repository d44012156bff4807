#include "io/fit.h"
#include "options/auto.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what the bundle says */

/* Sets `identity` and *index of the first image of -e that is not one of the bundle's files. */
static void find_impostor(struct cli_fit *f, const ntr_program *program, const ntr_bundle *bundle, size_t *index,
                          const ntr_bundle_image **truth) {
    ntr_image_info info;

    for (size_t i = f->first_given; ntr_program_image(program, i, &info) == NTR_OK; i++) {
        const ntr_bundle_image *file;
        const enum cli_identity one = cli_identity_of(program, i, bundle, &file);
        if (one > f->identity) {
            f->identity = one;
            *index = i;
            *truth = file;
        }
    }
}

/* The same for a perf.data, which records build ids by file name. */
static void find_impostor_of_perf(struct cli_fit *f, const struct cli_fit_input *in, size_t *index) {
    ntr_image_info info;
    bool same;

    for (size_t i = f->first_given; ntr_program_image(in->program, i, &info) == NTR_OK; i++) {
        if (!info.path || !ntr_perf_data_knows(in->perf, info.path, &same)) continue;
        const enum cli_identity one = same ? CLI_IDENTITY_SAME : CLI_IDENTITY_BUILD_ID;
        if (one <= f->identity) continue;
        f->identity = one;
        *index = i;
    }
}

/* ---- the sentence */

/* Returns whether the file was written after the trace. */
static bool is_newer(const char *path, const char *stream) {
    struct stat program, trace;

    return stat(path, &program) == 0 && stat(stream, &trace) == 0 && program.st_mtime > trace.st_mtime + 1;
}

/* What else speaks against the program: "build id differs; built later than the trace". */
static void put_reasons(char *text, size_t size, const struct cli_fit *f, const ntr_image_info *image,
                        const char *stream) {
    static const char *const words[] = {[CLI_IDENTITY_UNKNOWN] = "the trace has no build id to compare",
                                        [CLI_IDENTITY_SAME] = "the build id is the same",
                                        [CLI_IDENTITY_BUILD_ID] = "build id differs",
                                        [CLI_IDENTITY_CONTENT] = "its bytes differ, and there is no build id"};
    const bool later = image->path && is_newer(image->path, stream);

    snprintf(text, size, "%s%s", words[f->identity], later ? "; built later than the trace" : "");
}

/* The first message that does not fit, and the place of the code. */
static void put_first(char *text, size_t size, const struct cli_fit *f, const ntr_program *program) {
    const ntr_fit *fit = &f->fit;
    ntr_symbol symbol;
    char name[128] = "";

    if (fit->address_known &&
        ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, fit->address), &symbol) == NTR_OK)
        snprintf(name, sizeof name, " <%.100s+0x%" PRIx64 ">", symbol.name, fit->address - symbol.address);
    int length = snprintf(text, size, "message #%" PRIu64 " at byte 0x%" PRIx64, fit->message, fit->offset);
    if (fit->address_known && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, ", after 0x%" PRIx64 "%s", fit->address, name);
}

static void report_other(const struct cli_fit *f, const struct cli_fit_input *in, size_t index,
                         const ntr_bundle_image *truth, const ntr_bundle *bundle) {
    const ntr_fit *fit = &f->fit;
    const ntr_fit_image *part = &f->images[index < CLI_FIT_IMAGES ? index : 0];
    const char *first = fit->complete ? "" : "the first ";
    ntr_image_info info, *image = &info;
    char reasons[160], place[320];

    if (ntr_program_image(in->program, index, image) != NTR_OK || !cli_first_time("fit", in->name)) return;
    put_reasons(reasons, sizeof reasons, f, image, in->name);
    if (!fit->messages || (truth && !part->instructions && !part->contradicting))
        cli_doubt("%s is not the program that ran (%s)", image->name, reasons);
    else if (!fit->contradicting && fit->agreeing == fit->messages)
        cli_doubt("%s fits all %s%" PRIu64 " messages, but it is not the program that ran (%s)", image->name,
                  fit->complete ? "" : "of the first ", fit->messages, reasons);
    else
        cli_doubt("%s fits %" PRIu64 " of %s%" PRIu64 " messages; it is not the program that ran (%s)", image->name,
                  fit->agreeing, first, fit->messages, reasons);
    if (fit->contradicting) {
        put_first(place, sizeof place, f, in->program);
        cli_note("the first message that does not fit: %s: %s", place, ntr_status_text((ntr_status)fit->reason));
    }
    if (in->perf && f->identity == CLI_IDENTITY_BUILD_ID)
        cli_note("%s records the build id of the program that ran: leave out -e, and name the folder of its files with "
                 "--sysroot",
                 in->name);
    if (truth && in->bundle)
        cli_note("%s has the program that ran, as %s: leave out -e", ntr_bundle_folder(bundle), truth->file);
    else if (truth)
        cli_note("the bundle %s has the program that ran: give the bundle as TRACE, without -e",
                 ntr_bundle_folder(bundle));
}

static void report_doubt(const struct cli_fit *f, const struct cli_fit_input *in, const ntr_image_info *image) {
    const ntr_fit *fit = &f->fit;

    enum { DOUBT_MESSAGES = 8, DOUBT_SHARE = 10 };

    if (fit->messages < DOUBT_MESSAGES || !cli_first_time("fit", in->name)) return;
    const bool bound = image->options.has_scontext || image->options.has_hcontext;
    const char *process = !fit->several_contexts ? ""
                          : bound                ? "another process ran there before a message said so, "
                                  : "it is code of another process (:ctx=N binds the program to its own), ";
    const bool sure = in->params_known || fit->agreeing >= fit->messages - fit->messages / DOUBT_SHARE;
    cli_note("%s fits %" PRIu64 " of %s%" PRIu64 " messages, and %" PRIu64 " contradict it: %s%s%sother code ran "
             "(the trace has no build id to compare)",
             image->name, fit->agreeing, fit->complete ? "" : "the first ", fit->messages, fit->contradicting,
             sure ? "" : "the stream parameters are others (--auto), ", process, "the stream is damaged there, or ");
}

static void report_missing(const struct cli_fit *f, const struct cli_fit_input *in, const ntr_image_info *image) {
    if (!cli_first_time("fit", in->name)) return;
    const ntr_image_options *bound = &image->options;
    const bool is_bound = bound->has_scontext || bound->has_hcontext || bound->has_prv;

    if (is_bound && f->fit.missing >= image->low && f->fit.missing < image->high) {
        cli_note("programs of several %s have code at 0x%" PRIx64
                 ", and the trace does not say there which %s (no %s was sent)",
                 bound->has_scontext   ? "processes"
                 : bound->has_hcontext ? "guests"
                                       : "privilege modes",
                 f->fit.missing,
                 bound->has_scontext   ? "process runs"
                 : bound->has_hcontext ? "guest runs"
                                       : "mode the hart is in",
                 bound->has_scontext   ? "scontext"
                 : bound->has_hcontext ? "hcontext"
                                       : "privilege mode");
        return;
    }
    cli_note("%s has no code at 0x%" PRIx64 ", where the trace is, only at 0x%" PRIx64 " to 0x%" PRIx64
             ": it is not the program that ran, or it was loaded elsewhere (-e FILE@ADDR)",
             image->name, f->fit.missing, image->low, image->high - 1);
}

/* ---- judging */

/* Returns whether nothing needs to be judged: the counting decode finds no contradiction. */
static bool decodes(const ntr_decoder_config *config, const struct cli_fit_input *in) {
    ntr_counts counts = {0};
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);

    if (!decoder) return true;
    ntr_decoder_feed(decoder, in->beginning.data, in->beginning.size, in->last);
    ntr_decoder_count(decoder, &counts);
    ntr_decoder_free(decoder);
    return counts.gaps == 0;
}

static int measure(struct cli_fit *f, const struct cli_fit_input *in, bool always) {
    ntr_decoder_config config;

    ntr_decoder_config_init(&config);
    config.params = f->has_params ? f->params : in->params;
    config.program = in->program;
    config.one_source = in->only && !((unsigned)(in->only - 1) >> config.params.src_bits);
    config.source = (uint16_t)(config.one_source ? in->only - 1 : 0);
    if (!in->beginning.size || (!always && decodes(&config, in))) return CLI_OK;
    const ntr_status status = ntr_fit_measure(&config, in->beginning, in->last, &f->fit, f->images, CLI_FIT_IMAGES);
    if (status != NTR_OK) return cli_fail("%s: %s", in->name, ntr_status_text(status));
    f->judged = true;
    return CLI_OK;
}

int cli_fit_measure(struct cli_fit *f, const struct cli_fit_input *in) {
    return f->judged ? CLI_OK : measure(f, in, true);
}

void cli_fit_report_idle(const struct cli_fit *f, const ntr_program *program) {
    ntr_image_info image;

    if (!f->judged || !f->fit.complete || !f->fit.instructions) return;
    for (size_t i = f->first_given; i < CLI_FIT_IMAGES && ntr_program_image(program, i, &image) == NTR_OK; i++) {
        const ntr_fit_image *part = &f->images[i];
        if (!image.options.bias || part->instructions || part->contradicting) continue;
        if (cli_first_time("idle", image.name))
            cli_note("%s: no instruction at 0x%" PRIx64 " to 0x%" PRIx64 " was executed; if it ran, it was loaded "
                     "elsewhere (-e FILE@ADDR)",
                     image.name, image.low, image.high - 1);
    }
}

/* Returns the number of the image of -e that contradicts most. */
static size_t worst_image(const struct cli_fit *f) {
    size_t worst = f->first_given;

    for (size_t i = f->first_given + 1; i < CLI_FIT_IMAGES; i++)
        if (f->images[i].contradicting > f->images[worst].contradicting) worst = i;
    return worst;
}

/* Returns whether the program is right, and the parameters are not. */
static bool other_params(struct cli_fit *f, const struct cli_fit_input *in) {
    const uint64_t agreeing = f->fit.agreeing;
    ntr_params params = in->params;
    char line[400];

    const bool explains = cli_auto_explains(in->beginning, in->last, in->program, f->inferred ? &f->likeliest : NULL,
                                            &params, &f->fit, line, sizeof line);
    if (explains && in->params_given && cli_first_time("fit", in->name))
        cli_note("%s: %" PRIu64 " of %" PRIu64 " messages fit with the given stream parameters, and %" PRIu64
                 " with others: %s",
                 in->name, agreeing, f->fit.messages, f->fit.agreeing, line);
    return explains;
}

/* Reports what the measured fit says of an image, of which the bundle or perf.data knows nothing. */
static void report_fit(struct cli_fit *f, const struct cli_fit_input *in) {
    const size_t index = worst_image(f);
    ntr_image_info image;

    if (f->fit.verdict >= NTR_FIT_DOUBTFUL && !in->params_known && other_params(f, in)) return;
    if (ntr_program_image(in->program, index, &image) != NTR_OK) return;
    f->other = f->fit.verdict == NTR_FIT_OTHER_CODE;
    if (f->other)
        report_other(f, in, index, NULL, NULL);
    else if (f->fit.verdict == NTR_FIT_DOUBTFUL && !f->fit.damaged)
        report_doubt(f, in, &image);
    else if (f->fit.complete && f->fit.without_code && !f->fit.instructions)
        report_missing(f, in, &image);
}

int cli_fit_judge_gaps(struct cli_fit *f, const struct cli_fit_input *in) {
    f->open = false;
    if (cli_fit_measure(f, in) != CLI_OK) return CLI_FAILED;
    if (f->judged) report_fit(f, in);
    return CLI_OK;
}

static int judge(struct cli_fit *f, const struct cli_fit_input *in, const ntr_bundle *bundle) {
    const ntr_bundle_image *truth = NULL;
    size_t index = f->first_given;

    if (bundle) find_impostor(f, in->program, bundle, &index, &truth);
    if (in->perf) find_impostor_of_perf(f, in, &index);
    if (f->identity == CLI_IDENTITY_UNKNOWN && in->late) {
        f->open = true;
        return CLI_OK;
    }
    f->other = f->identity >= CLI_IDENTITY_BUILD_ID;
    if (measure(f, in, f->other) != CLI_OK) return CLI_FAILED;
    if (f->other)
        report_other(f, in, index, truth, bundle);
    else if (f->identity == CLI_IDENTITY_UNKNOWN && f->judged)
        report_fit(f, in);
    return CLI_OK;
}

int cli_fit_judge(struct cli_fit *f, const struct cli_fit_input *in) {
    ntr_image_info image;

    if (f->first_given >= CLI_FIT_IMAGES || ntr_program_image(in->program, f->first_given, &image) != NTR_OK)
        return CLI_OK;
    ntr_bundle *beside = in->bundle ? NULL : cli_identity_bundle(in->name);
    const int status = judge(f, in, in->bundle ? in->bundle : beside);
    ntr_bundle_free(beside);
    return status;
}
