#include "transport/finder.h"

#include <stddef.h>

void calibration_start(calibration_watch *watch, unsigned width, uint64_t pattern, unsigned pattern_bits) {
    watch->pattern = pattern;
    watch->pattern_bits = (uint8_t)pattern_bits;
    watch->width = (uint8_t)width;
    watch->on = false;
    watch->last = 0;
    watch->run = 0;
}

static uint64_t rotate(uint64_t value, unsigned by, unsigned bits) {
    uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    return by ? (value >> by | value << (bits - by)) & mask : value;
}

static bool is_rotation(const calibration_watch *watch) {
    for (unsigned by = 0; by < watch->pattern_bits; by += watch->width)
        if (watch->last == rotate(watch->pattern, by, watch->pattern_bits)) return true;
    return false;
}

uint64_t calibration_times(const calibration_watch *watch) {
    return watch->on ? 1 + watch->run / watch->pattern_bits : 0;
}

uint64_t calibration_beat(calibration_watch *watch, unsigned beat) {
    const unsigned bits = watch->pattern_bits, width = watch->width;
    const unsigned before = (unsigned)(watch->last & ((1u << width) - 1));
    watch->last = watch->last >> width | (uint64_t)beat << (bits - width);
    if (beat == before) {
        watch->run += width;
        if (!watch->on && watch->run == bits) watch->on = is_rotation(watch);
        return 0;
    }
    const uint64_t times = calibration_times(watch);
    watch->run = 0;
    watch->on = false;
    return times;
}

/* States of the framing automaton. The least significant bit is received first, so the two MSEO bits of a byte come
 * before its MDO bits. MORE: the message continues after this byte. LAST: this is the last byte of the message. */
enum framing_state {
    BETWEEN,  /* outside a message: the next bit is idle or the first bit of a message */
    STARTED,  /* after the first bit of a message: 0 */
    INSIDE,   /* inside a message, at a byte boundary */
    INSIDE_0, /* inside a message, after the first MSEO bit: 0 */
    INSIDE_1, /* inside a message, after the first MSEO bit: 1 */
    MORE,     /* MORE + k: k of the six MDO bits received */
    LAST = MORE + 6,
    DEAD = LAST + 6, /* not a valid stream */
};

enum { HOLDOFF_BITS = 64 }; /* two periods of the 32-bit calibration pattern */

static unsigned next(unsigned state, unsigned bit) {
    switch (state) {
    case BETWEEN: return bit ? BETWEEN : STARTED;
    case STARTED: return bit ? DEAD : MORE;
    case INSIDE: return bit ? INSIDE_1 : INSIDE_0;
    case INSIDE_0: return bit ? DEAD : MORE; /* MSEO 10 is reserved */
    case INSIDE_1: return bit ? LAST : MORE;
    case MORE + 5: return INSIDE;
    case LAST + 5: return BETWEEN;
    default: return state + 1;
    }
}

/* Returns all states that are possible at the start of a beat. */
static uint32_t all_states(unsigned width) {
    uint32_t states = STATE(BETWEEN) | STATE(INSIDE);
    if (!width) return states;
    if (width == 1) states |= STATE(STARTED) | STATE(INSIDE_0) | STATE(INSIDE_1);
    for (unsigned mdo = 0; mdo < 6; mdo++)
        if ((2 + mdo) % width == 0) states |= STATE(MORE + mdo) | STATE(LAST + mdo);
    return states;
}

static void search(message_finder *finder) {
    finder->states = all_states(finder->width);
    finder->holdoff = finder->width < 8 ? HOLDOFF_BITS : 0;
    finder->aligned = finder->complete = false;
}

void finder_start(message_finder *finder, unsigned width, ntr_begin begin, uint64_t pattern, unsigned pattern_bits) {
    finder->width = (uint8_t)width;
    search(finder);
    if (begin == NTR_BEGIN_ALIGNED) {
        finder->states = STATE(BETWEEN);
        finder->holdoff = 0;
    }
    calibration_start(&finder->calibration, width, pattern, pattern_bits);
}

void finder_break(message_finder *finder, ntr_transport_reader *reader, ntr_status reason, uint64_t position) {
    if (finder->aligned) reader_note(reader, NTR_NOTE_LOST, reason, position, 0);
    search(finder);
}

void finder_boundary(message_finder *finder, ntr_transport_reader *reader, bool damaged) {
    if (finder->aligned && (finder->complete || damaged))
        reader_note(reader, NTR_NOTE_LOST, NTR_E_TRUNCATED, reader->position, 0);
    if (finder->complete || damaged) finder->aligned = false;
    finder->complete = false;
    finder->states = STATE(BETWEEN);
}

static ntr_status end_message(message_finder *finder, ntr_transport_reader *reader) {
    finder->complete = false;
    if (finder->too_long) {
        reader_note(reader, NTR_NOTE_LOST, NTR_E_MESSAGE_LONG, finder->message_position, 0);
        finder->aligned = false;
        return NTR_OK;
    }
    if (!finder->aligned) reader_note(reader, NTR_NOTE_ALIGNED, NTR_OK, finder->message_position, 0);
    finder->aligned = true;
    return reader_give(reader, 0, finder->bytes, finder->size);
}

static void keep_bit(message_finder *finder, unsigned bit) {
    finder->byte = (uint8_t)(finder->byte | bit << finder->byte_bits);
    if (++finder->byte_bits < 8) return;
    if (finder->size < sizeof finder->bytes)
        finder->bytes[finder->size++] = finder->byte;
    else
        finder->too_long = true;
    finder->byte = finder->byte_bits = 0;
}

static void start_message(message_finder *finder, uint64_t position) {
    finder->complete = finder->holdoff == 0 && !finder->calibration.on;
    finder->too_long = false;
    finder->size = finder->byte = finder->byte_bits = 0;
    finder->message_position = position;
}

static ntr_status take_bit(message_finder *finder, ntr_transport_reader *reader, unsigned bit, bool beat_start,
                           uint64_t position) {
    const uint32_t before = finder->states;
    finder->states = states_step(before, bit, next, DEAD);
    if (!beat_start) finder->states &= ~STATE(STARTED); /* a message starts with a beat */
    if (before == STATE(BETWEEN) && finder->states == STATE(STARTED)) start_message(finder, position);
    if (!finder->complete || !finder->states) return NTR_OK;
    keep_bit(finder, bit);
    return finder->states == STATE(BETWEEN) ? end_message(finder, reader) : NTR_OK;
}

ntr_status finder_beat(message_finder *finder, ntr_transport_reader *reader, unsigned beat, uint64_t position) {
    uint64_t times = calibration_beat(&finder->calibration, beat);
    if (times) reader_note(reader, NTR_NOTE_CALIBRATION, NTR_OK, position, times);
    if (finder->calibration.on) finder->complete = false;
    for (unsigned i = 0; i < finder->width && finder->states; i++)
        TRY(take_bit(finder, reader, beat >> i & 1, i == 0, position));
    if (!finder->states) finder_break(finder, reader, NTR_E_MSEO_RESERVED, position);
    finder->holdoff = (uint16_t)(finder->holdoff > finder->width ? finder->holdoff - finder->width : 0);
    return NTR_OK;
}

void finder_end(message_finder *finder, ntr_transport_reader *reader) {
    if (finder->complete) reader_note(reader, NTR_NOTE_LOST, NTR_E_TRUNCATED, finder->message_position, 0);
    uint64_t times = calibration_times(&finder->calibration);
    if (times) reader_note(reader, NTR_NOTE_CALIBRATION, NTR_OK, reader->position, times);
}
