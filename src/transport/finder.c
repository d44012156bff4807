#include "transport/finder.h"

#include "transport/places.h"

/* Places inside the stream. Bits come least significant first, so the two MSEO bits of a byte come
 * before its MDO. MORE and LAST say whether the message goes on after this byte. */
enum place {
    BETWEEN,  /* before a message: idle or its first bit */
    STARTED,  /* first bit of a message seen: 0 */
    INSIDE,   /* at a byte boundary inside a message */
    INSIDE_0, /* first MSEO bit seen: 0 */
    INSIDE_1, /* ... 1 */
    MORE,     /* MORE + k: k of six MDO bits seen */
    LAST = MORE + 6,
    DEAD = LAST + 6,
};

enum { QUIET_BITS = 64 }; /* two periods of the calibration pattern */

static unsigned next(unsigned place, unsigned bit) {
    switch (place) {
    case BETWEEN: return bit ? BETWEEN : STARTED;
    case STARTED: return bit ? DEAD : MORE;
    case INSIDE: return bit ? INSIDE_1 : INSIDE_0;
    case INSIDE_0: return bit ? DEAD : MORE; /* MSEO 10 is reserved */
    case INSIDE_1: return bit ? LAST : MORE;
    case MORE + 5: return INSIDE;
    case LAST + 5: return BETWEEN;
    default: return place + 1;
    }
}

/* Everywhere that a beat can begin. */
static uint32_t all_places(unsigned width) {
    uint32_t places = PLACE(BETWEEN) | PLACE(INSIDE);
    if (!width) return places;
    if (width == 1) places |= PLACE(STARTED) | PLACE(INSIDE_0) | PLACE(INSIDE_1);
    for (unsigned mdo = 0; mdo < 6; mdo++)
        if ((2 + mdo) % width == 0) places |= PLACE(MORE + mdo) | PLACE(LAST + mdo);
    return places;
}

static void search(message_finder *finder) {
    finder->places = all_places(finder->width);
    finder->quiet = finder->width < 8 ? QUIET_BITS : 0;
    finder->aligned = finder->whole = false;
}

void finder_start(message_finder *finder, unsigned width, ntr_begin begin, uint64_t pattern, unsigned pattern_bits) {
    finder->width = (uint8_t)width;
    search(finder);
    if (begin == NTR_BEGIN_ALIGNED) {
        finder->places = PLACE(BETWEEN);
        finder->quiet = 0;
    }
    calibration_start(&finder->calibration, width, pattern, pattern_bits);
}

void finder_break(message_finder *finder, ntr_transport_reader *reader, ntr_status reason, uint64_t position) {
    if (finder->aligned) reader_note(reader, NTR_NOTE_LOST, reason, position, 0);
    search(finder);
}

void finder_boundary(message_finder *finder, ntr_transport_reader *reader, bool damaged) {
    if (finder->aligned && (finder->whole || damaged))
        reader_note(reader, NTR_NOTE_LOST, NTR_E_TRUNCATED, reader->position, 0);
    if (finder->whole || damaged) finder->aligned = false;
    finder->whole = false;
    finder->places = PLACE(BETWEEN);
}

static ntr_status end_message(message_finder *finder, ntr_transport_reader *reader) {
    finder->whole = false;
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
    finder->whole = finder->quiet == 0 && !finder->calibration.on;
    finder->too_long = false;
    finder->size = finder->byte = finder->byte_bits = 0;
    finder->message_position = position;
}

static ntr_status take_bit(message_finder *finder, ntr_transport_reader *reader, unsigned bit, bool beat_start,
                           uint64_t position) {
    const uint32_t before = finder->places;
    finder->places = places_step(before, bit, next, DEAD);
    if (!beat_start) finder->places &= ~PLACE(STARTED); /* a message starts with a beat */
    if (before == PLACE(BETWEEN) && finder->places == PLACE(STARTED)) start_message(finder, position);
    if (!finder->whole || !finder->places) return NTR_OK;
    keep_bit(finder, bit);
    return finder->places == PLACE(BETWEEN) ? end_message(finder, reader) : NTR_OK;
}

ntr_status finder_beat(message_finder *finder, ntr_transport_reader *reader, unsigned beat, uint64_t position) {
    uint64_t times = calibration_beat(&finder->calibration, beat);
    if (times) reader_note(reader, NTR_NOTE_CALIBRATION, NTR_OK, position, times);
    if (finder->calibration.on) finder->whole = false;
    for (unsigned i = 0; i < finder->width && finder->places; i++)
        TRY(take_bit(finder, reader, beat >> i & 1, i == 0, position));
    if (!finder->places) finder_break(finder, reader, NTR_E_MSEO_RESERVED, position);
    finder->quiet = (uint16_t)(finder->quiet > finder->width ? finder->quiet - finder->width : 0);
    return NTR_OK;
}

void finder_end(message_finder *finder, ntr_transport_reader *reader) {
    if (finder->whole) reader_note(reader, NTR_NOTE_LOST, NTR_E_TRUNCATED, finder->message_position, 0);
    uint64_t times = calibration_times(&finder->calibration);
    if (times) reader_note(reader, NTR_NOTE_CALIBRATION, NTR_OK, reader->position, times);
}
