/* Quick decoder for messages without defects. There is one variant for each instruction set; all give the same
 * results. Messages that it refuses are decoded by decode.c. */
#ifndef NTR_MESSAGE_QUICK_H
#define NTR_MESSAGE_QUICK_H

#include <ntrace/reader.h>

/* A message is read from NTR_QUICK_READABLE readable bytes, whatever follows it in them. */
enum { NTR_QUICK_READABLE = 48, NTR_QUICK_LONGEST = 32 };

/* What was passed. */
typedef struct ntr_quick_progress {
    size_t at; /* bytes passed */
    uint64_t idle, messages;
} ntr_quick_progress;

typedef struct ntr_quick {
    const char *name;

    /* Decode the message that begins at `bytes`. Returns its size; 0 when it is longer than NTR_QUICK_LONGEST,
     * vendor defined, reserved or has a defect: decode.c must decode it, and `message` is undefined.
     * Fills what ntr_message_decode fills. */
    size_t (*decode)(const ntr_params *params, const uint8_t *bytes, ntr_message *message);

    /* Pass over messages without defects and the idle bytes between them, up to the first other message; add the
     * messages to *mix. */
    ntr_quick_progress (*check)(const ntr_params *params, const uint8_t *bytes, size_t size, ntr_message_mix *mix);

    /* Pass over messages that are framed correctly (fields are not checked) and have one of these TCODEs (bit i: TCODE
     * i), and the idle bytes between them. It stops early where few bytes are left or a message is long. */
    ntr_quick_progress (*pass)(uint64_t tcodes, const uint8_t *bytes, size_t size);
} ntr_quick;

/* The variants; `wide` is built where the compiler can (NTR_HAVE_WIDE). */
extern const ntr_quick ntr_quick_portable, ntr_quick_native, ntr_quick_wide;

/* The variant of this number; NULL past the last, NULL too for one that this processor cannot run well.
 * 0 is portable C, 1 what the build may assume of every processor (SSE2, NEON), 2 AVX2 with BMI2. */
const ntr_quick *ntr_quick_at(unsigned index);
enum { NTR_QUICK_VARIANTS = 3 };

/* The fastest variant for this processor. */
const ntr_quick *ntr_quick_best(void);

#endif
