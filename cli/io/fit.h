/* How well the programs of -e fit the trace (<ntrace/fit.h>), and the sentence for one that is not the program that
 * ran. */
#ifndef CLI_IO_FIT_H
#define CLI_IO_FIT_H

#include "io/identity.h"

#include <ntrace/bytes.h>
#include <ntrace/fit.h>
#include <ntrace/params.h>
#include <ntrace/perf_data.h>

#include <stdbool.h>
#include <stddef.h>

enum { CLI_FIT_IMAGES = 64 };

struct cli_fit {
    bool judged; /* `fit` and `images` are valid */
    bool open;   /* nothing has contradicted the programs yet: cli_fit_judge_gaps when the decode has a gap */
    bool has_params; /* `params` fit better than those of the trace, which are not known */
    bool other;  /* a program of -e is not the one that ran; reported */
    ntr_params params;
    bool inferred; /* parameters were inferred: `likeliest`, adopted or not */
    ntr_params likeliest;
    ntr_fit fit;
    ntr_fit_image images[CLI_FIT_IMAGES];
    size_t first_given; /* number of the first image of -e */
    enum cli_identity identity; /* of the file of -e that is not, or may not be, the one that ran */
};

struct cli_fit_input {
    const char *name;         /* of the stream, in messages */
    const ntr_bundle *bundle; /* NULL: the stream is in no bundle, or beside one that it was not opened by */
    const ntr_perf_data *perf; /* NULL: the stream is not that of a perf.data */
    const ntr_program *program;
    ntr_params params;
    bool params_known; /* by the bundle; otherwise by options, inference or as defaults */
    bool params_given; /* options give some */
    ntr_bytes beginning; /* of the stream; `last`: all of it */
    bool last;
    int only; /* number of the one source that is read, plus 1; 0: all */
    bool late; /* the whole stream will be decoded: what only a gap can show is left open */
};

/* Judges the programs of -e, those from image number f->first_given on, by the beginning of the stream and by the
 * bundle, and reports those that did not run. Returns CLI_OK, or CLI_FAILED after reporting an error. */
int cli_fit_judge(struct cli_fit *f, const struct cli_fit_input *input);

/* Judges those programs by the beginning of the stream: the decode has a gap, and f->open is set. Returns as
 * cli_fit_judge. */
int cli_fit_judge_gaps(struct cli_fit *f, const struct cli_fit_input *input);

/* Reports the images of -e FILE@ADDR of which nothing was executed, if the whole stream was judged. */
void cli_fit_report_idle(const struct cli_fit *f, const ntr_program *program);

/* Judges the whole program, for an answer that shows the fit. Returns as cli_fit_judge. */
int cli_fit_measure(struct cli_fit *f, const struct cli_fit_input *input);

#endif
