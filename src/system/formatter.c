/* CoreSight formatter: the hardware's side of the frames. An ID may be written at even bytes only. The byte before a
 * change of ID at an odd byte is therefore held back until the next byte is known: with the flag of its pair set, the
 * data byte after an ID still belongs to the old one. */
#include "system/coresight.h"

#include <string.h>

enum { LAST_EVEN = 14, FLAG_BYTE = 15, FRAMES_OF_ID = 10 /* frames */ };

void formatter_reset(frame_formatter *formatter) {
    *formatter = (frame_formatter){0};
}

static void complete(frame_formatter *f, frame_sink sink, void *user) {
    sink(user, f->frame);
    memset(f->frame, 0, sizeof f->frame);
    f->at = 0;
    if (++f->unnamed >= FRAMES_OF_ID) f->named = false;
}

/* Writes the even byte: an ID, whose flag says that the next byte belongs to the old one, or data. */
static void put_even(frame_formatter *f, uint8_t value, bool flag) {
    f->frame[f->at] = value;
    if (flag) f->frame[FLAG_BYTE] |= (uint8_t)(1u << f->at / 2);
}

static void put_odd(frame_formatter *f, uint8_t byte, frame_sink sink, void *user) {
    if (f->at == LAST_EVEN) {
        complete(f, sink, user);
        return;
    }
    f->frame[f->at + 1] = byte;
    f->at = (uint8_t)(f->at + 2);
}

static void put_id(frame_formatter *f, uint8_t id, bool late) {
    put_even(f, (uint8_t)(id << 1 | 1), late);
    f->id = id;
    f->named = true;
    f->unnamed = 0;
}

static void hold(frame_formatter *f, uint8_t byte, frame_sink sink, void *user) {
    if (f->at == LAST_EVEN) { /* no data byte follows in this frame */
        put_even(f, byte & 0xfe, byte & 1);
        complete(f, sink, user);
        return;
    }
    f->held = byte;
    f->holds = true;
}

void formatter_put(frame_formatter *f, uint8_t id, uint8_t byte, frame_sink sink, void *user) {
    if (f->holds && f->id == id) {
        put_even(f, f->held & 0xfe, f->held & 1);
        f->holds = false;
        put_odd(f, byte, sink, user);
        return;
    }
    if (f->holds) {
        put_id(f, id, true);
        f->holds = false;
        put_odd(f, f->held, sink, user);
    }
    if (f->id == id && f->named) {
        hold(f, byte, sink, user);
    } else if (f->at == LAST_EVEN) {
        put_id(f, id, false);
        complete(f, sink, user);
        hold(f, byte, sink, user);
    } else {
        put_id(f, id, false);
        put_odd(f, byte, sink, user);
    }
}

void formatter_flush(frame_formatter *f, frame_sink sink, void *user) {
    if (formatter_empty(f)) return;
    if (f->holds) {
        put_id(f, 0, true);
        f->holds = false;
        put_odd(f, f->held, sink, user);
    } else {
        put_id(f, 0, false);
    }
    if (f->at) complete(f, sink, user); /* the rest is 0 */
    f->named = false;
}
