#include "commands/profile/answers.h"
#include "commands/profile/output.h"
#include "io/document.h"
#include "io/source_match.h"
#include "options/diagnostics.h"
#include "text/annotate.h"

/* ---- rows */

/* Says that no instruction has a line, as a table of "?" alone may be overlooked. */
static void note_lines(const ntr_profile *profile, int by) {
    bool any = by != NTR_PROFILE_LINE || !profile->count;

    for (size_t i = 0; i < profile->count && !any; i++) any = profile->rows[i].file != NULL;
    if (!any) cli_note("no line information: build the program with -g, or name its debug files with --debug-path");
}

static void write_profile(struct cli_output *out, const struct profile_options *o, const struct cli_analysis *a,
                          const ntr_profile *profile) {
    const struct cli_profile_writer w = {
        .out = out,
        .by = (ntr_profile_by)o->by,
        .profile = profile,
        .trace = &a->trace,
        .incomplete = a->incomplete,
    };

    note_lines(profile, o->by);
    cli_profile_write(&w, cli_format_of_rows(o->result.format), o->top);
}

/* Returns whether rows can be sorted as wanted; reports it if not. */
static bool check_time(const struct cli_analysis *a, const struct profile_options *o, uint64_t ticks) {
    const bool by_time = o->sort == NTR_PROFILE_KEY_TICKS || o->sort == NTR_PROFILE_KEY_TOTAL_TICKS;

    if (!by_time || ticks || !a->any) return true;
    cli_note("%s: --sort: the trace has no time: no message has a TSTAMP; expected self, total or calls", a->path);
    return false;
}

static int show(struct cli_analysis *a, const struct profile_options *o, struct cli_output *out) {
    ntr_profile profile;
    const ntr_analysis *x = &a->data;
    ntr_status status =
        ntr_profile_make(&profile, (ntr_profile_by)o->by, x->program, x->debug, x->functions, x->tree, x->tally, NULL);

    if (status != NTR_OK) return cli_fail("%s: out of memory", a->path);
    ntr_profile_sort(&profile, (ntr_profile_key)o->sort);
    const bool sorted = check_time(a, o, profile.ticks);
    if (sorted) write_profile(out, o, a, &profile);
    ntr_profile_release(&profile);
    return sorted ? CLI_OK : CLI_FAILED;
}

/* ---- callers and callees */

/* Returns the name under which a function with several symbols is profiled, or `name`. */
static const char *profiled_name(const struct cli_analysis *a, const char *name) {
    ntr_symbol symbol;

    if (ntr_program_find(a->data.program, name, &symbol) != NTR_OK) return name;
    const ntr_function *function = ntr_functions_get(
        a->data.functions,
        ntr_functions_at(a->data.functions, ntr_program_image_place(a->data.program, symbol.number, symbol.address)));
    return function ? function->name : name;
}

static ntr_status find_relatives(ntr_profile *profile, const struct cli_analysis *a, ntr_profile_relation relation,
                                 const char *name) {
    const ntr_analysis *x = &a->data;
    ntr_status status = ntr_profile_relatives(profile, relation, name, x->functions, x->tree, NULL);

    if (status != NTR_END) return status;
    return ntr_profile_relatives(profile, relation, profiled_name(a, name), x->functions, x->tree, NULL);
}

/* Writes the callers or callees of a function. */
static int show_relatives(struct cli_analysis *a, const struct profile_options *o, struct cli_output *out,
                          ntr_profile_relation relation, const char *name) {
    ntr_profile profile;

    if (!name) return CLI_OK;
    ntr_status status = find_relatives(&profile, a, relation, name);
    if (status == NTR_END) return cli_fail("%s: no function '%s' was executed", a->path, name);
    if (status != NTR_OK) return cli_fail("%s: out of memory", a->path);
    if (o->sort != NTR_PROFILE_KEY_SELF) ntr_profile_sort(&profile, (ntr_profile_key)o->sort);
    const struct cli_profile_writer w = {
        .out = out,
        .by = NTR_PROFILE_FUNCTION,
        .profile = &profile,
        .trace = &a->trace,
        .relation = relation == NTR_PROFILE_CALLERS ? "caller" : "callee",
        .relative = name,
        .continues = relation == NTR_PROFILE_CALLEES && o->callers,
    };
    cli_profile_write(&w, cli_format_of_rows(o->result.format), o->top);
    ntr_profile_release(&profile);
    return CLI_OK;
}

/* ---- instructions below their source */

static int annotate(struct cli_analysis *a, const struct profile_options *o, struct cli_output *out) {
    const struct cli_annotate_options how = {
        .functions = &o->annotate,
        .format = cli_format_of_rows(o->result.format),
        .top = o->top,
    };
    struct cli_source_match match = {0};
    cli_source_match_begin(&match, a->data.program, a->data.debug);
    a->text.match = &match;
    const int status = cli_annotate(&a->data, &how, out);
    cli_source_match_report(&match);
    cli_source_match_release(&match);
    a->text.match = NULL;
    return status;
}

/* ---- documents */

static int write_result(struct cli_analysis *a, const struct profile_options *o, struct cli_output *out) {
    if (o->annotate.count) return annotate(a, o, out);
    if (!profile_has_relatives(o)) return show(a, o, out);
    int status = show_relatives(a, o, out, NTR_PROFILE_CALLERS, o->callers);
    return status == CLI_OK ? show_relatives(a, o, out, NTR_PROFILE_CALLEES, o->callees) : status;
}

int cli_profile_answer(struct cli_analysis *a, const struct profile_options *o, int status) {
    struct cli_output out;

    if (cli_document_open(&out, &o->result, "profile") != CLI_OK) return CLI_FAILED;
    int wrote = write_result(a, o, &out);
    if (wrote == CLI_OK) cli_analysis_end_document(a, &out);
    return cli_output_close(&out, wrote == CLI_OK ? status : wrote);
}

int cli_profile_machine(struct cli_analysis *a, const struct profile_options *o, const ntr_machine *machine,
                        int status) {
    struct cli_output out;
    ntr_profile profile;

    if (ntr_profile_machine(&profile, (ntr_profile_by)o->by, machine, NULL) != NTR_OK)
        return cli_fail("%s: out of memory", a->path);
    ntr_profile_sort(&profile, (ntr_profile_key)o->sort);
    if (cli_document_open(&out, &o->result, "profile") == CLI_OK) {
        write_profile(&out, o, a, &profile);
        cli_analysis_end_document(a, &out);
        status = cli_output_close(&out, status);
    } else {
        status = CLI_FAILED;
    }
    ntr_profile_release(&profile);
    return status;
}
