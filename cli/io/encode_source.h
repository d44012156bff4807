/* Inputs of `ntrace encode`: a list of program counters, ingress records, a Spike log, or the log of a core. */
#ifndef CLI_IO_ENCODE_SOURCE_H
#define CLI_IO_ENCODE_SOURCE_H

#include "io/output.h"

#include <ntrace/encoder.h>
#include <ntrace/ingress.h>

/* Consumers of the execution. */
struct cli_encode {
    ntr_encoder *encoder;
    ntr_classifier *classifier; /* not used for ingress records */
    struct cli_output *out;     /* output of the encoder; reading stops when it is `done` */
    unsigned hart;              /* logs: number of the hart to encode */
    unsigned xlen;              /* 32 or 64; 0: not known */
    uint64_t counters;          /* program counters that were read, of a list of them */
};

/* Reads the whole file. Returns CLI_OK, or CLI_FAILED after reporting the error. */
typedef int (*cli_encode_source)(struct cli_encode *encode, const char *path);

int cli_encode_pcs(struct cli_encode *encode, const char *path);
int cli_encode_ingress(struct cli_encode *encode, const char *path);
int cli_encode_spike(struct cli_encode *encode, const char *path);
int cli_encode_rvvi(struct cli_encode *encode, const char *path);
int cli_encode_rvfi(struct cli_encode *encode, const char *path);

#endif
