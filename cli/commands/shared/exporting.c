#include "commands/shared/exporting.h"
#include "io/output.h"
#include "io/memory.h"
#include "io/source_match.h"
#include "options/diagnostics.h"
#include "io/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <ntrace/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PER_DEFAULT = -1 };
#define FIRST_FILE "stream" /* of an output that is a folder */

#define S struct cli_exporting_options
const struct cli_option cli_exporting_options[] = {
    CLI_STRING(0, "to", "FORMAT", S, to, "output format; '--to list' lists the formats of this command"),
    CLI_STRING('o', "output", "FILE", S, path, "write to FILE (default: standard output)"),
    {0},
};

const struct cli_option cli_exporting_tree_options[] = {
    CLI_CHOICE(
        0, "per", "trace|hart|context|process", S, per, PER_DEFAULT,
        "build a call tree for each of these; context: for each context of each hart (default of 'flame': process if the trace knows the processes of its system; otherwise trace)"),
    {0},
};

static const struct cli_option image_options[] = {
    CLI_STRING(
        0, "image", "NAME", S, image,
        "export only the ELF file with this name or path, such as a shared library; for drcov, and formats of one ELF "
        "file (default: the first ELF file; drcov: all)"),
    {0},
};

const struct cli_option cli_exporting_sample_options[] = {
    CLI_NUMBER(
        0, "every", "N", S, every, 1, INT64_MAX, 0,
        "perf.data: instructions between two samples (default: such that there are 100,000 to 200,000); simpoint: "
        "instructions of an interval (default: 100,000,000)"),
    CLI_NUMBER(0, "branches", "N", S, branches, 1, 1024, 0,
               "perf.data: the last N branches with each sample (default: none)"),
    {0},
};

#define ANALYSIS_GROUPS                                                                                                \
    CLI_GROUP("trace", cli_analysis_options, S, analysis),                                                             \
        CLI_GROUP("window", cli_selection_options, S, analysis.selection),                                             \
        CLI_GROUP("program", cli_image_options, S, analysis.images),                                                   \
        CLI_GROUP("stream", cli_stream_options, S, analysis.stream), {0}
const struct cli_group cli_exporting_groups[] = {CLI_OWN("options", cli_exporting_options), ANALYSIS_GROUPS};
const struct cli_group cli_exporting_tree_groups[] = {
    CLI_OWN("options", cli_exporting_options),
    CLI_OWN("call trees", cli_exporting_tree_options),
    ANALYSIS_GROUPS,
};
const struct cli_group cli_exporting_sample_groups[] = {
    CLI_OWN("options", cli_exporting_options),
    CLI_OWN("call trees", cli_exporting_tree_options),
    CLI_OWN("program files", image_options),
    CLI_OWN("samples", cli_exporting_sample_options),
    ANALYSIS_GROUPS,
};
#undef ANALYSIS_GROUPS
#undef S

static void list_one(const ntr_exporter *exporter) {
    const char *alias;

    printf("%-18s %s", ntr_exporter_name(exporter), ntr_exporter_summary(exporter));
    for (size_t i = 0; (alias = ntr_exporter_alias(exporter, i)); i++) printf("%s%s", i ? ", " : "; also: ", alias);
    putchar('\n');
}

static void list(const char *family) {
    const ntr_exporter *exporter;

    for (size_t i = 0; (exporter = ntr_exporter_at(i)); i++)
        if (strcmp(ntr_exporter_family(exporter), family) == 0) list_one(exporter);
}

static const char *near_format(const char *family, const char *name) {
    const ntr_exporter *exporter;

    for (size_t i = 0; (exporter = ntr_exporter_at(i)); i++)
        if (strcmp(ntr_exporter_family(exporter), family) == 0 && cli_looks_like(name, ntr_exporter_name(exporter)))
            return ntr_exporter_name(exporter);
    return NULL;
}

static const ntr_exporter *find_exporter(const char *family, const char *name) {
    const ntr_exporter *exporter = NULL;

    if (name) return ntr_exporter_find(family, name);
    for (size_t i = 0; (exporter = ntr_exporter_at(i)); i++)
        if (strcmp(ntr_exporter_family(exporter), family) == 0) break;
    return exporter;
}

static const ntr_exporter *exporter_of_ending(const char *family, const char *ending) {
    const ntr_exporter *exporter = ntr_exporter_find(family, ending);

    if (exporter || strcmp(ending, "json") != 0) return exporter;
    for (size_t i = 0; (exporter = ntr_exporter_at(i)); i++)
        if (strcmp(ntr_exporter_family(exporter), family) == 0 && strstr(ntr_exporter_summary(exporter), "JSON")) break;
    return exporter;
}

/* Says which format was written if no option selected it, and the name of the file ends as that of another format. */
static void note_ending(const char *family, const ntr_exporter *exporter, const struct cli_exporting_options *o) {
    const char *slash = o->path ? strrchr(o->path, '/') : NULL;
    const char *dot = o->path ? strrchr(slash ? slash : o->path, '.') : NULL;
    const ntr_exporter *meant = dot && !o->to ? exporter_of_ending(family, dot + 1) : NULL;

    if (meant && meant != exporter && !strstr(ntr_exporter_name(exporter), dot + 1))
        cli_note("%s: the format is %s; for %s: --to %s ('--to list': all)", o->path, ntr_exporter_name(exporter), dot,
                 ntr_exporter_name(meant));
}

struct export_run {
    struct cli_analysis analysis;
    struct cli_output out;
    ntr_output output;
    ntr_export *export_;
    int per; /* ntr_calltree_split, or PER_DEFAULT */
    bool report; /* the report is written */
    char *quality; /* JSON; owned */
    char named[40], code[400]; /* facts of the report */
};

static ntr_status write_bytes(void *user, const void *bytes, size_t size) {
    struct cli_output *out = user;

    cli_output_write(out, bytes, size);
    return out->failed ? NTR_E_IO : NTR_OK;
}

static void set_output(struct export_run *w) {
    ntr_output_init(&w->output);
    w->output.write = write_bytes;
    w->output.user = &w->out;
}

static ntr_status take_events(void *user, const ntr_event *events, size_t count) {
    return ntr_export_feed(user, events, count);
}

static int begin(struct export_run *w, const ntr_exporter *exporter) {
    ntr_status status;

    status = ntr_export_new(exporter, &w->analysis.data, &w->output, &w->export_);
    if (w->export_) return CLI_OK;
    if (status == NTR_E_NO_IMAGE)
        return cli_fail("%s: %s requires an ELF file (-e)", w->analysis.path, ntr_exporter_name(exporter));
    return cli_fail("%s: %s: %s", w->analysis.path, ntr_exporter_name(exporter), ntr_status_text(status));
}

static int finish(struct export_run *w, const ntr_exporter *exporter) {
    ntr_status status = ntr_export_finish(w->export_);

    if (status >= 0 || w->out.failed) return CLI_OK;
    return cli_fail("%s: %s: %s", w->analysis.path, ntr_exporter_name(exporter), ntr_export_error(w->export_));
}

/* Says what the output leaves out. */
static int report_loss(const struct export_run *w, const ntr_exporter *exporter, int status) {
    const char *loss = ntr_export_loss(w->export_);

    if (status == CLI_FAILED || !*loss) return status;
    cli_note("%s: --to %s: %s", w->analysis.path, ntr_exporter_name(exporter), loss);
    return CLI_DEFECTS;
}

/* Returns how well a name is that of a file: 2, its path; 1, the last part of its path; 0, neither. */
static int names(const char *name, const ntr_image_info *image) {
    const char *paths[] = {image->options.name, image->name, image->path};
    int best = 0;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *slash = paths[i] ? strrchr(paths[i], '/') : NULL;
        if (!paths[i]) continue;
        if (strcmp(paths[i], name) == 0) return strchr(name, '/') ? 2 : 1;
        if (slash && strcmp(slash + 1, name) == 0) best = 1;
    }
    return best;
}

/* Selects the ELF file of --image. Two files with the same last part need a path. */
static int select_image(struct export_run *w, const ntr_exporter *exporter, const char *name) {
    const char *found = NULL;
    int best = 0;
    ntr_image_info image;

    if (!name) return CLI_OK;
    if (!(ntr_exporter_needs(exporter) & NTR_NEEDS_IMAGE))
        return cli_fail("--image: --to %s is not a format of one ELF file", ntr_exporter_name(exporter));
    for (size_t i = 0; ntr_program_image(w->analysis.data.program, i, &image) == NTR_OK; i++) {
        const int fits = image.path ? names(name, &image) : 0;
        if (!fits || fits < best) continue;
        if (fits == best && strcmp(found, image.path) != 0)
            return cli_fail("--image %s: expected one ELF file, found '%s' and '%s'; give the path", name, found,
                            image.path);
        if (fits == best) continue;
        best = fits;
        found = image.path;
        w->analysis.data.has_image = true;
        w->analysis.data.image = i;
    }
    return found
               ? CLI_OK
               : cli_fail("--image %s: no ELF file of the trace has this name; 'ntrace profile --by image' lists them",
                          name);
}

/* Selects how the call tree is divided. */
static int divide(struct export_run *w, const ntr_exporter *exporter) {
    const bool counts = w->analysis.answer && !(ntr_partial_holds(w->analysis.answer) & NTR_PARTIAL_EVENTS);
    const bool knows = w->analysis.tasks && !counts;
    if (w->per == NTR_CALLTREE_PROCESSES && !knows)
        return cli_fail(
            counts
                ? "%s: --per process needs all events in order, the partial answer has counts: write it with the same "
                  "command and options"
                : "%s: --per process: there are no names of processes (the file 'tasks' of a bundle)",
            w->analysis.path);
    if (w->per == PER_DEFAULT)
        w->per = knows && strcmp(ntr_exporter_family(exporter), "flame") == 0 ? NTR_CALLTREE_PROCESSES
                                                                              : NTR_CALLTREE_TOGETHER;
    if (w->analysis.data.tree && !counts) ntr_calltree_divide(w->analysis.data.tree, (ntr_calltree_split)w->per);
    return CLI_OK;
}

/* Returns whether all events are needed in order. A partial answer of the processes has them, too: which one runs is
 * known from all events before. */
static bool needs_order(const struct export_run *w, unsigned needs) {
    const bool processes = w->per == NTR_CALLTREE_PROCESSES && needs & NTR_NEEDS_TREE && w->analysis.options->partial;
    return needs & NTR_NEEDS_EVENTS || processes;
}

/* Formats that show what the result rests on. */
static bool is_rated(const struct export_run *w, const ntr_exporter *exporter) {
    return w->report || strstr(ntr_exporter_name(exporter), "json");
}

static void add_fact(struct export_run *w, const char *label, const char *value) {
    struct cli_trace_facts *f = &w->analysis.facts;

    if (w->analysis.data.fact_count < sizeof f->facts / sizeof f->facts[0])
        f->facts[w->analysis.data.fact_count++] = (ntr_fact){label, value};
}

/* The texts of the facts follow in `rate`. */
static int begin_rating(struct export_run *w, const ntr_exporter *exporter) {
    if (!is_rated(w, exporter)) return CLI_OK;
    w->analysis.data.quality = (const char *const *)&w->quality;
    if (w->report) add_fact(w, "named code", w->named);
    if (w->report) add_fact(w, "images", w->code);
    return cli_analysis_rate(&w->analysis);
}

static int rate(struct export_run *w) {
    const struct cli_quality *q = &w->analysis.quality;
    size_t used = 0;

    if (!w->analysis.rated) return CLI_OK;
    cli_analysis_quality(&w->analysis);
    w->quality = cli_quality_json(&w->analysis.quality);
    if (!w->quality) return cli_fail("%s: %s", w->analysis.path, ntr_status_text(NTR_E_MEMORY));
    snprintf(w->named, sizeof w->named, "%.2f %% of the instructions",
             q->instructions ? 100.0 * (double)q->named / (double)q->instructions : 0.0);
    for (size_t i = 0; i < q->image_count && used < sizeof w->code; i++) {
        const char *slash = strrchr(q->images[i].name, '/'), *id = q->images[i].build_id;
        const char *none = q->images[i].unreadable_id ? "build id that cannot be read" : "no build id";
        used += (size_t)snprintf(w->code + used, sizeof w->code - used, "%s%s, %s%s", i ? "; " : "",
                                 slash ? slash + 1 : q->images[i].name, id ? "build id " : none, id ? id : "");
        if (q->images[i].judged && used < sizeof w->code)
            used += (size_t)snprintf(w->code + used, sizeof w->code - used,
                                     ", %" PRIu64 " messages fit and %" PRIu64 " contradict it", q->images[i].agreeing,
                                     q->images[i].contradicting);
    }
    return CLI_OK;
}

/* An exporter that needs events is started before decoding, any other one after it. */
static int write_all(struct export_run *w, const ntr_exporter *exporter, const char *image) {
    unsigned needs = ntr_exporter_needs(exporter);
    const bool partial = w->analysis.options->partial;
    int status = CLI_OK;

    const bool follows =
        needs & NTR_NEEDS_STACKS && !partial && (needs & NTR_NEEDS_TREE || cli_analysis_shares(&w->analysis));
    if (cli_analysis_need(&w->analysis, needs | (follows ? NTR_NEEDS_TREE : 0u)) != CLI_OK) return CLI_FAILED;
    if (divide(w, exporter) != CLI_OK || select_image(w, exporter, image) != CLI_OK) return CLI_FAILED;
    if (begin_rating(w, exporter) != CLI_OK) return CLI_FAILED;
    w->analysis.data.has_stacks = follows;
    w->analysis.stacks_only = follows && !(needs & NTR_NEEDS_TREE);
    if (needs & NTR_NEEDS_EVENTS && !partial && begin(w, exporter) != CLI_OK) return CLI_FAILED;
    if (follows) w->analysis.follower = w->export_;
    if (needs & NTR_NEEDS_CALLS) w->analysis.take_needs = NTR_TAKE_JOINED | NTR_TAKE_REPEATS;
    if (needs & NTR_NEEDS_STRETCHES && w->analysis.tasks) w->analysis.join_except = NTR_MACHINE_WATCHED;
    status = cli_analysis_run(&w->analysis, needs_order(w, needs) ? take_events : NULL, w->export_);
    if (status == CLI_FAILED || partial) return status;
    if (rate(w) != CLI_OK) return CLI_FAILED;
    struct cli_source_match match = {0};
    cli_source_match_begin(&match, w->analysis.data.program, w->analysis.data.debug);
    w->analysis.text.match = &match;
    if ((!w->export_ && begin(w, exporter) != CLI_OK) || finish(w, exporter) != CLI_OK) status = CLI_FAILED;
    if (w->export_) status = report_loss(w, exporter, status);
    cli_source_match_report(&match);
    cli_source_match_release(&match);
    w->analysis.text.match = NULL;
    return status;
}

/* Returns the exporter that the options select, or NULL when there is nothing to write; *status is then the exit
 * status, and an error has been reported. */
static const ntr_exporter *select_exporter(const char *family, const struct cli_exporting_options *options,
                                           const char *standard, bool has_input, int *status) {
    const char *to = options->to;

    if (!to) to = standard;

    if (to && strcmp(to, "list") == 0) {
        list(family);
        *status = CLI_OK;
        return NULL;
    }
    const ntr_exporter *exporter = find_exporter(family, to);
    *status = CLI_FAILED;
    if (!exporter) {
        const char *near = near_format(family, to);
        cli_note("--to: no format '%s'; %s%s%s'--to list' lists them", to, near ? "did you mean '" : "",
                 near ? near : "", near ? "'? " : "");
    } else if (!has_input) {
        cli_note("expected TRACE; see '--help'");
        return NULL;
    } else if (ntr_exporter_needs(exporter) & (NTR_NEEDS_FILE | NTR_NEEDS_FOLDER) && !options->analysis.partial &&
               (!options->path || strcmp(options->path, "-") == 0)) {
        cli_note("--to %s requires -o %s", ntr_exporter_name(exporter),
                 ntr_exporter_needs(exporter) & NTR_NEEDS_FOLDER ? "DIR" : "FILE");
        return NULL;
    }
    return exporter;
}

static int write_coverage(const ntr_exporter *exporter, const ntr_analysis *data, const char *path, int status) {
    struct export_run w = {0};
    set_output(&w);
    w.analysis.path = "coverage";
    w.analysis.data = *data;
    if (cli_output_open(&w.out, path) != CLI_OK) return CLI_FAILED;
    if (begin(&w, exporter) != CLI_OK || finish(&w, exporter) != CLI_OK) status = CLI_FAILED;
    ntr_export_free(w.export_);
    return cli_output_close(&w.out, status);
}

int cli_exporting_coverage(const struct cli_exporting_options *options, const ntr_analysis *data, const char *standard,
                           int status) {
    int refused;
    const ntr_exporter *exporter = select_exporter("coverage", options, standard, data != NULL, &refused);
    if (!exporter) return refused;
    status = write_coverage(exporter, data, options->path, status);
    if (status != CLI_FAILED) note_ending("coverage", exporter, options);
    return status;
}

bool cli_exporting_chosen(const struct cli_exporting_options *options) {
    return options->to != NULL;
}

bool cli_exporting_needs_decisions(const struct cli_exporting_options *options) {
    const char *to = options->to;
    const ntr_exporter *exporter = to ? ntr_exporter_find("coverage", to) : NULL;
    return exporter && (ntr_exporter_needs(exporter) & NTR_NEEDS_DECISIONS);
}

int cli_exporting_coverage_file(const ntr_analysis *data, const char *exporter, const char *path) {
    return write_coverage(ntr_exporter_find("coverage", exporter), data, path, CLI_OK);
}

/* Runs an exporter that opens its output file itself. It writes to the temporary file, which replaces `path` at the
 * end. */
static int write_own_file(struct export_run *w, const ntr_exporter *exporter, const char *path, const char *image) {
    char real[PATH_MAX];
    const char *target = cli_atomic_file_target(path, real);
    struct cli_atomic_file *file;
    int fd, status;

    if (!target)
        return cli_fail("%s: expected the name of a regular file; parts of this format are written again", path);
    if (cli_atomic_file_open(&file, target, &fd) != CLI_OK) return CLI_FAILED;
    close(fd);
    w->output.path = cli_atomic_file_name(file);
    status = write_all(w, exporter, image);
    ntr_export_free(w->export_);
    w->export_ = NULL;
    if (status != CLI_FAILED && cli_memory_short()) status = cli_fail("out of memory");
    return cli_atomic_file_finish(file, status);
}

/* Writes the second file of an output that is a folder. */
static int write_second(const ntr_exporter *exporter, const char *folder, int status) {
    char path[PATH_MAX];
    const char *name, *text = ntr_exporter_second(exporter, &name);
    struct cli_output out;

    if (!text || status == CLI_FAILED) return status;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return CLI_FAILED;
    if (cli_output_open(&out, path) != CLI_OK) return CLI_FAILED;
    cli_output_write(&out, text, strlen(text));
    return cli_output_close(&out, status);
}

/* Makes the folder of an output, and stores the path of its first file. A folder with other files is refused: readers
 * take all files of it. */
static int make_folder(const ntr_exporter *exporter, const char *folder, char path[PATH_MAX]) {
    const char *second;
    int status = CLI_OK;
    (void)ntr_exporter_second(exporter, &second);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cli_fail("%s: %s", folder, strerror(errno));
    DIR *open = opendir(folder);
    if (!open) return cli_fail("%s: %s", folder, strerror(errno));
    for (const struct dirent *entry; status == CLI_OK && (entry = readdir(open));) {
        const char *name = entry->d_name;
        const bool known = strcmp(name, FIRST_FILE) == 0 || strcmp(name, second) == 0;
        if (!known && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            status = cli_fail("%s: expected a new or empty folder, found '%s'", folder, name);
    }
    closedir(open);
    if (status == CLI_OK && (size_t)snprintf(path, PATH_MAX, "%s/%s", folder, FIRST_FILE) >= PATH_MAX)
        status = cli_fail("%s: the name is too long", folder);
    return status;
}

int cli_exporting_run(const char *family, const struct cli_exporting_options *options, const char *trace) {
    int status;
    const ntr_exporter *exporter = select_exporter(family, options, NULL, trace != NULL, &status);
    if (!exporter) return status;

    char first[PATH_MAX];
    const char *path = options->analysis.partial ? NULL : options->path;
    const bool folder = ntr_exporter_needs(exporter) & NTR_NEEDS_FOLDER && !options->analysis.partial;
    bool own_file = (ntr_exporter_needs(exporter) & NTR_NEEDS_FILE) != 0 && !options->analysis.partial;
    struct export_run w = {.per = options->per, .report = strcmp(family, "report") == 0};

    set_output(&w);
    w.output.path = options->path;
    status = cli_analysis_open(&w.analysis, trace, &options->analysis);
    w.analysis.data.sample_every = (uint64_t)options->every;
    w.analysis.data.sample_branches = (unsigned)options->branches;
    if (status == CLI_OK && own_file) {
        status = write_own_file(&w, exporter, options->path, options->image);
    } else if (status == CLI_OK) {
        if (folder) status = make_folder(exporter, options->path, first);
        if (status == CLI_OK) status = cli_output_open(&w.out, folder ? first : path);
        if (status == CLI_OK) status = cli_output_close(&w.out, write_all(&w, exporter, options->image));
        if (folder) status = write_second(exporter, options->path, status);
    }
    if (status == CLI_FAILED) ntr_export_abandon(w.export_);
    if (status != CLI_FAILED && path) note_ending(family, exporter, options);
    ntr_export_free(w.export_);
    free(w.quality);
    cli_analysis_close(&w.analysis);
    return status;
}
