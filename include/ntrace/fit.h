/* Fit: how well a stream and a program belong together.
 *
 * Every message of the flow is judged by itself: the code from the address that the messages before it give must have
 * as many halfwords, branches and jumps as it says. A message that does not is a contradiction; the next message with
 * an address is judged again. So a program that is not the one that ran contradicts again and again, at the same places
 * of its code, while damage of the stream contradicts once, at any place, and often makes a message invalid.
 *
 * Messages that cannot be judged are left out: messages after damage or an overflow, up to the next synchronizing
 * message, and code that the program does not have. */
#ifndef NTRACE_FIT_H
#define NTRACE_FIT_H

#include <ntrace/bytes.h>
#include <ntrace/decoder.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_fit_verdict {
    NTR_FIT_UNKNOWN = 0, /* nothing could be judged */
    NTR_FIT_AGREES, /* no message contradicts the program */
    NTR_FIT_DOUBTFUL, /* some messages do: damage, or code that is not quite the one that ran */
    NTR_FIT_OTHER_CODE, /* damage does not explain the contradictions: it is not the program that ran */
} ntr_fit_verdict;

typedef struct ntr_fit {
    uint8_t verdict; /* ntr_fit_verdict */
    bool complete; /* all of the stream was judged, and not only its beginning */
    bool address_known; /* `address` is known */
    bool several_contexts; /* processes of an operating system: one address may be of several programs */
    int16_t reason; /* of the first contradiction: ntr_status; 0: there is none */
    uint64_t messages; /* that carry flow */
    uint64_t agreeing, contradicting; /* of them; the others could not be judged */
    uint64_t branches; /* conditional branches that were followed */
    uint64_t instructions; /* that were followed */
    uint64_t without_code; /* gaps because the program has no code; the first one at `missing` */
    uint64_t missing;
    uint64_t damaged; /* messages that are damaged, or accepted although they probably are (ntr_event_is_doubtful) */
    uint64_t stretches, contradicting_stretches; /* from one synchronizing message to the next one */
    uint64_t repeats; /* contradictions at a place of the code that contradicted before, and never agrees */
    uint64_t message, offset, address; /* the first contradiction: its message, and the code that does not agree */
    uint64_t reserved[5]; /* must be 0; for later members */
} ntr_fit;

/* What was judged in the code of one image of the program. */
typedef struct ntr_fit_image {
    uint64_t agreeing, contradicting; /* messages that ended in it */
    uint64_t instructions, branches; /* that were followed */
} ntr_fit_image;

/* Judges the stream, or its beginning, as a decoder with this config reads it. `last`: the bytes are all of the stream.
 * `images`: the first `image_count` images of the program; may be NULL. Errors: as ntr_decoder_new,
 * NTR_E_MEMORY. */
NTR_API ntr_status ntr_fit_measure(const ntr_decoder_config *config, ntr_bytes stream, bool last, ntr_fit *fit,
                                   ntr_fit_image *images, size_t image_count);

#ifdef __cplusplus
}
#endif
#endif
