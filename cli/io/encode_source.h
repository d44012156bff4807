/* What 'ntrace encode' reads: a list of program counters, ingress records, a Spike log. */
#ifndef CLI_IO_ENCODE_SOURCE_H
#define CLI_IO_ENCODE_SOURCE_H

#include "io/output.h"

#include <ntrace/encoder.h>
#include <ntrace/ingress.h>

/* Where the execution goes. */
struct cli_encode {
    ntr_encoder *encoder;
    ntr_classifier *classifier; /* NULL for ingress records, which need none */
    struct cli_output *out;     /* of the encoder; tells when to stop early */
    unsigned hart;              /* Spike logs */
    unsigned xlen;              /* 32, 64; 0: not known */
};

/* Read the whole file. Returns CLI_OK, or CLI_FAILED after telling why. */
typedef int (*cli_encode_source)(struct cli_encode *encode, const char *path);

int cli_encode_pcs(struct cli_encode *encode, const char *path);
int cli_encode_ingress(struct cli_encode *encode, const char *path);
int cli_encode_spike(struct cli_encode *encode, const char *path);

#endif
