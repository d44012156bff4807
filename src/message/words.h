/* Short messages as two words of raw bytes, to compare messages without decoding them. */
#ifndef NTR_MESSAGE_WORDS_H
#define NTR_MESSAGE_WORDS_H

#include <ntrace/reader.h>

#include "wire/ends.h"
#include "wire/framing.h"

enum { NTR_WORDS_BYTES = 16 };

/* A message of up to 16 bytes: the first byte in the low bits of word[0], zeros behind the last. Never all zeros. */
typedef struct ntr_message_words {
    uint64_t word[2];
} ntr_message_words;

/* Load the message that begins at `bytes`, of which 16 must be readable. Returns its size, or 0 when it is longer. */
static inline unsigned ntr_words_load(ntr_message_words *w, const uint8_t *bytes) {
    uint64_t word = ntr_load8(bytes), ends = ntr_word_ends(word);
    w->word[0] = word;
    w->word[1] = 0;
    if (ends) {
        w->word[0] = ntr_word_up_to(word, ends);
        return ntr_word_size(ends);
    }
    word = ntr_load8(bytes + 8);
    ends = ntr_word_ends(word);
    if (!ends) return 0;
    w->word[1] = ntr_word_up_to(word, ends);
    return 8 + ntr_word_size(ends);
}

/* TCODE and SRC of a message, from its first word. */
static inline unsigned ntr_words_tcode(uint64_t first) {
    return first >> NTR_MSEO_BITS & ((1u << NTR_MDO_BITS) - 1);
}

static inline unsigned ntr_words_src(uint64_t first, unsigned src_bits) {
    return (unsigned)(ntr_gather_mdo(first) >> NTR_MDO_BITS) & ((1u << src_bits) - 1);
}

/* SRC at its place in the first word: behind TCODE, with zeros for MSEO. */
static inline uint64_t ntr_words_place_src(unsigned src) {
    return ntr_scatter_mdo((uint64_t)src << NTR_MDO_BITS);
}

/* Decode the message. */
static inline ntr_status ntr_words_decode(const ntr_params *params, const ntr_message_words *w, ntr_message *message) {
    uint8_t bytes[NTR_WORDS_BYTES];
    ntr_message_words again;
    ntr_store8(bytes, w->word[0]);
    ntr_store8(bytes + 8, w->word[1]);
    return ntr_message_decode(params, (ntr_bytes){bytes, ntr_words_load(&again, bytes)}, message);
}

/* The next bytes of the reader's span and their number, or NULL when the reader is inside a message. */
static inline const uint8_t *ntr_words_ahead(const ntr_reader *reader, size_t *size) {
    const ntr_framer *framer = &reader->framer;
    *size = framer->size - framer->at;
    return framer->mode == NTR_FRAMER_BETWEEN ? framer->data + framer->at : NULL;
}

/* Move the reader past this many messages, to `bytes`. */
static inline void ntr_words_pass(ntr_reader *reader, uint64_t messages, const uint8_t *bytes) {
    reader->number += messages;
    reader->framer.at = (size_t)(bytes - reader->framer.data);
}

#endif
