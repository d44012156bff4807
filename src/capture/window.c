#include "capture/window.h"
#include "capture/blocks.h"
#include "capture/hart.h"
#include "capture/machine.h"
#include "capture/run.h"

/* ---- places -------------------------------------------------------------------------------------------------------
 */

bool ntr_capture_window_find(struct ntr_capture_harts *harts, struct ntr_capture_place *place) {
    /* The files of a machine are known from the beginning; they are looked at once. */
    uint64_t maps = place->address_known ? 0 : harts->machine ? 1 : atomic_load(&harts->channel->head.maps);

    if (!place->address_known && maps != place->maps_seen) {
        place->maps_seen = maps;
        ntr_symbol symbol = {0};
        place->address_known = harts->window.find(harts->window.user, place->name, &symbol);
        place->address = symbol.address;
        place->size = symbol.size;
    }
    return place->address_known;
}

/* How many instructions of the block come before the one at `address`; false: it is not in the block. */
static bool find_in_block(const struct ntr_capture_harts *harts, uint32_t number, uint64_t address, unsigned *before) {
    const struct channel_block *block = ntr_capture_shared(harts, number);
    const uint8_t *bytes = harts->channel->code + block->code;
    uint64_t offset = address - block->address;

    *before = 0;
    if (offset >= block->size) return false;
    for (uint64_t at = 0; at < offset; at += ntr_capture_length_at(bytes + at)) {
        ++*before;
        if (at + ntr_capture_length_at(bytes + at) > offset) return false;
    }
    return true;
}

/* The window closes behind `before` instructions of the last block. */
static void close_last(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, unsigned before) {
    ntr_capture_run_stop(harts, hart, ntr_capture_hart_complete_part(harts, hart, before));
    hart->last = hart->tail = 0;
    harts->window.state = NTR_CAPTURE_WINDOW_CLOSED;
}

/* ---- before it opens ----------------------------------------------------------------------------------------------
 */

static void open_at(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number, unsigned before) {
    harts->window.state = NTR_CAPTURE_WINDOW_OPEN;
    harts->window.skip = 0;
    hart->last = number;
    hart->tail = (uint16_t)before;
    hart->entry = 0;
}

/* The window has opened in the last block. Does it close in it? */
static bool closes_at_once(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    unsigned before = 0;

    if (!ntr_capture_window_stops_in(harts, hart->last)) return false;
    find_in_block(harts, hart->last, harts->window.stop.address, &before);
    if (before <= hart->tail) return false;
    close_last(harts, hart, before);
    return true;
}

/* The block is executed `count` times. Returns how many times are left when the window has opened in it. */
static uint64_t count_block(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                            uint64_t count) {
    struct ntr_capture_window *window = &harts->window;
    struct ntr_capture_block *block = ntr_capture_block_at(harts, hart, number);
    unsigned before = 0, start = 0;

    if (!block) return 0;
    unsigned instructions = block->code.instructions;
    uint64_t whole = instructions ? window->skip / instructions : 0;
    hart->passed = number;
    if (window->skip && (!instructions || whole >= count)) {
        window->skip -= instructions * count;
        return 0;
    }
    count -= whole;
    window->skip -= whole * instructions;
    before = (unsigned)window->skip;
    if (!window->start.given) {
        open_at(harts, hart, number, before);
        return closes_at_once(harts, hart) ? 0 : count - 1;
    }
    window->skip = 0;
    if (!ntr_capture_window_find(harts, &window->start) || !find_in_block(harts, number, window->start.address, &start))
        return 0;
    if (start < before && --count == 0) return 0;
    open_at(harts, hart, number, start);
    return closes_at_once(harts, hart) ? 0 : count - 1;
}

/* A signal arrived in the last block: fewer of its instructions have retired than were counted. */
static void count_back(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart, uint32_t record) {
    unsigned retired = record & CHANNEL_ALL;
    const struct ntr_capture_block *block = hart->passed ? ntr_capture_block_at(harts, hart, hart->passed) : NULL;

    if (block && retired == CHANNEL_ALL && record & CHANNEL_ENTRY_FAULT && block->last_traps)
        retired = block->code.instructions - 1;
    if (block && harts->window.skip && retired < block->code.instructions)
        harts->window.skip += block->code.instructions - retired;
}

static void take_record(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    hart->record[hart->fill++] = word;
    uint32_t kind = hart->record[0] & 0xff000000u;
    if (hart->fill < channel_record_words(hart->record[0])) return;
    hart->fill = 0;
    if (kind == CHANNEL_LOOP) {
        uint64_t count = (uint64_t)(hart->record[3] & ~(uint32_t)CHANNEL_RECORD) << 32 | hart->record[2];
        uint64_t left = count_block(harts, hart, hart->record[1], count);
        if (left && ntr_capture_window_stops_in(harts, hart->record[1]))
            ntr_capture_window_close(harts, hart, hart->record);
        else if (left)
            ntr_capture_hart_repeat(harts, hart, hart->record[1], left);
    } else if (kind == CHANNEL_ENTRY) {
        count_back(harts, hart, word);
    } else if (kind != CHANNEL_LOST) {
        ntr_capture_machine_pass(harts, hart);
    } else {
        hart->ended = harts->lost = true;
    }
}

/* ---- after it has closed ------------------------------------------------------------------------------------------
 */

/* Another hart has closed the window: the last block of this one is its last one. */
static void leave(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    bool is_block = !(word & CHANNEL_RECORD);

    if (!hart->last) return;
    ntr_capture_hart_complete(harts, hart, is_block ? word : 0);
    ntr_capture_run_stop(harts, hart, is_block ? ntr_capture_shared(harts, word)->address : NTR_ADDRESS_UNKNOWN);
    hart->last = 0;
}

const uint32_t *ntr_capture_window_pass(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                        const uint32_t *words, const uint32_t *end) {
    struct ntr_capture_window *window = &harts->window;

    for (; words < end && window->state == NTR_CAPTURE_WINDOW_WAITS && !hart->ended; words++) {
        if (hart->fill || *words & CHANNEL_RECORD)
            take_record(harts, hart, *words);
        else
            count_block(harts, hart, *words, 1);
    }
    if (window->state != NTR_CAPTURE_WINDOW_CLOSED) return words;
    if (words < end) leave(harts, hart, hart->fill ? CHANNEL_RECORD : *words);
    return end;
}

/* ---- while it is open ---------------------------------------------------------------------------------------------
 */

bool ntr_capture_window_stops_in(struct ntr_capture_harts *harts, uint32_t number) {
    struct ntr_capture_place *stop = &harts->window.stop;
    unsigned before;

    return stop->given && number && ntr_capture_window_find(harts, stop) &&
           stop->address - ntr_capture_shared(harts, number)->address < ntr_capture_shared(harts, number)->size &&
           find_in_block(harts, number, stop->address, &before);
}

const uint32_t *ntr_capture_window_limit(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end) {
    if (hart->fill) words += channel_record_words(hart->record[0]) - hart->fill;
    while (words < end) {
        bool loop = (*words & 0xff000000u) == CHANNEL_LOOP;
        uint32_t number = loop ? words + 1 < end ? words[1] : 0 : *words & CHANNEL_RECORD ? 0 : *words;
        if (ntr_capture_window_stops_in(harts, number)) return words;
        words += *words & CHANNEL_RECORD ? channel_record_words(*words) : 1;
    }
    return end;
}

void ntr_capture_window_close(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *word) {
    uint32_t number = *word & CHANNEL_RECORD ? word[1] : *word;
    unsigned before = 0;

    ntr_capture_hart_begin(harts, hart, number);
    find_in_block(harts, number, harts->window.stop.address, &before);
    close_last(harts, hart, before);
}

void ntr_capture_watch_begin(struct ntr_capture_harts *harts, const ntr_capture_config *config) {
    struct channel_head *head = &harts->channel->head;
    const char *name = config->access_symbol;

    head->accesses = config->accesses;
    head->access_first = name ? 0 : config->access_first;
    head->access_last = name ? UINT64_MAX : config->access_last;
    harts->watched = (struct ntr_capture_place){.given = name, .name = name};
}

bool ntr_capture_watch_find(struct ntr_capture_harts *harts) {
    struct ntr_capture_place *object = &harts->watched;
    struct channel_head *head = &harts->channel->head;

    if (!object->address_known && ntr_capture_window_find(harts, object)) {
        head->access_first = object->address;
        head->access_last = object->address + object->size - 1;
    }
    return object->address_known && object->size;
}

bool ntr_capture_watches(struct ntr_capture_harts *harts, uint64_t address) {
    const struct ntr_capture_place *object = &harts->watched;
    return !object->given || (ntr_capture_watch_find(harts) && address - object->address < object->size);
}
