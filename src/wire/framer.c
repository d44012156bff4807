#include <ntrace/framer.h>

#include "wire/ends.h"
#include "wire/framing.h"

#include <string.h>

/* The defect of a slice, by the mode in which its end was found. */
static const ntr_status outcomes[] = {
    [NTR_FRAMER_INSIDE] = NTR_OK,
    [NTR_FRAMER_BAD_SEQUENCE] = NTR_E_MSEO_SEQUENCE,
    [NTR_FRAMER_BAD_RESERVED] = NTR_E_MSEO_RESERVED,
};

void ntr_framer_init(ntr_framer *framer, bool zero_idle) {
    memset(framer, 0, offsetof(ntr_framer, held));
    framer->strays = 0;
    framer->any_end_idle = false;
    framer->data = framer->held;
    framer->mode = NTR_FRAMER_BETWEEN;
    framer->zero_idle = zero_idle;
}

void ntr_framer_seek_start(ntr_framer *framer) {
    framer->mode = NTR_FRAMER_SEEKING;
}

ntr_status ntr_framer_feed(ntr_framer *framer, const uint8_t *data, size_t size, bool last) {
    if (framer->last || framer->at != framer->size) return NTR_E_STATE;
    framer->base += framer->size;
    framer->data = size ? data : framer->held; /* never NULL */
    framer->size = size;
    framer->at = 0;
    framer->last = last;
    return NTR_OK;
}

uint64_t ntr_framer_offset(const ntr_framer *framer) {
    return framer->base + framer->at;
}

static void seek(ntr_framer *f) {
    size_t end = ntr_find_end(f->data + f->at, f->size - f->at);
    if (f->at + end < f->size) {
        end++;
        f->mode = NTR_FRAMER_BETWEEN;
    }
    f->skipped += end;
    f->at += end;
}

static void skip_idle(ntr_framer *f) {
    while (ntr_framer_skip_idle(f)) {
        bool stray = f->any_end_idle && ntr_ends_message(f->data[f->at]);
        if (!stray && !(f->zero_idle && f->data[f->at] == 0)) break;
        f->at++;
        f->idle++;
        f->strays += stray;
    }
}

static uint8_t mode_after_first(uint8_t byte) {
    switch (ntr_mseo_of(byte)) {
    case NTR_MSEO_FIELD: return NTR_FRAMER_BAD_SEQUENCE;
    case NTR_MSEO_RESERVED: return NTR_FRAMER_BAD_RESERVED;
    default: return NTR_FRAMER_INSIDE;
    }
}

/* Return the slice, which has `here` more bytes in this piece. */
static ntr_status give(ntr_framer *f, ntr_slice *slice, size_t here, ntr_status defect) {
    slice->offset = f->base + f->at - f->slice_size;
    slice->size = f->slice_size + here;
    slice->raw.data = f->slice_size ? f->held : f->data + f->at;
    slice->raw.size = slice->size < NTR_MESSAGE_BYTES_MAX ? (size_t)slice->size : NTR_MESSAGE_BYTES_MAX;
    slice->defect = slice->size > NTR_MESSAGE_BYTES_MAX ? NTR_E_MESSAGE_LONG : defect;
    f->at += here;
    f->slice_size = 0;
    f->held_size = 0;
    f->mode = NTR_FRAMER_BETWEEN;
    return NTR_OK;
}

/* Copy `here` bytes of an unfinished slice, up to the longest message. */
static void hold(ntr_framer *f, size_t here) {
    size_t room = NTR_MESSAGE_BYTES_MAX - f->held_size;
    size_t kept = here < room ? here : room;
    if (kept) memcpy(f->held + f->held_size, f->data + f->at, kept);
    f->held_size += (uint32_t)kept;
}

/* Inside a slice: go to its end, or to the end of the piece. */
static ntr_status finish(ntr_framer *f, ntr_slice *slice) {
    size_t left = f->size - f->at;
    size_t end = ntr_find_end(f->data + f->at, left);
    bool ended = end < left;
    size_t here = ended ? end + 1 : left;
    if (f->slice_size || !(ended || f->last)) hold(f, here);
    if (ended) return give(f, slice, here, outcomes[f->mode]);
    if (f->last) return give(f, slice, here, f->mode == NTR_FRAMER_INSIDE ? NTR_E_TRUNCATED : outcomes[f->mode]);
    f->slice_size += here;
    f->at = f->size;
    return NTR_NEED_MORE;
}

ntr_status ntr_framer_next(ntr_framer *f, ntr_slice *slice) {
    if (f->mode == NTR_FRAMER_SEEKING) seek(f);
    if (f->mode == NTR_FRAMER_BETWEEN) {
        skip_idle(f);
        if (f->at < f->size) {
            if (ntr_ends_message(f->data[f->at])) return give(f, slice, 1, NTR_E_IDLE);
            f->mode = mode_after_first(f->data[f->at]);
        }
    }
    if (f->mode >= NTR_FRAMER_INSIDE) return finish(f, slice);
    return f->last ? NTR_END : NTR_NEED_MORE;
}
