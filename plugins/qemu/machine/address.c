/* The address at which a block executes: the program counter when it begins.
 *
 * To read it through QEMU's interface takes as long as ten blocks, and it is needed at each jump to another page. While
 * translated code runs, a register of the host has the address of the hart's state (rbp on x86-64; TCG_AREG0 in QEMU's
 * source), and the program counter is a word of it. Which one depends on how QEMU was built, so it is found by
 * comparing: it is the only word that has had the value of the register pc at AGREEMENTS different values of it.
 * It is compared again whenever there is something to settle, at each CHECK_EVERYth jump to another page, and when it
 * is no address of the block; a difference ends QEMU, because pages may have got wrong addresses before. On other
 * hosts, and while no word is found, the interface is used. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STATE_BYTES = 1 << 14, CANDIDATES = 64, AGREEMENTS = 64, SEARCHES = 4096, CHECK_EVERY = 1024 };

struct counter_search {
    const void *state;
    uint64_t last; /* value */
    unsigned agreements, tries, count;
    unsigned until_check;
    uint16_t places[CANDIDATES]; /* words of the state that have had all values; in bytes */
};

static unsigned width(void) {
    return channel->head.xlen / 8;
}

static uint64_t word_at(const void *place) {
    uint64_t word = 0;
    memcpy(&word, place, width());
    return word;
}

/* Keeps the words that have this value; of the first copy, of all words. */
static void compare(struct counter_search *search, const char *copy, uint64_t value) {
    unsigned kept = 0;

    if (!search->agreements++) {
        for (unsigned at = 0; at < STATE_BYTES && kept < CANDIDATES; at += width())
            if (word_at(copy + at) == value) search->places[kept++] = (uint16_t)at;
    } else {
        for (unsigned i = 0; i < search->count; i++)
            if (word_at(copy + search->places[i]) == value) search->places[kept++] = search->places[i];
    }
    search->count = kept;
}

/* `state` may be anything. */
static bool copy_state(const void *state, char copy[STATE_BYTES]) {
    const struct iovec to = {copy, STATE_BYTES}, from = {(void *)(uintptr_t)state, STATE_BYTES};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == STATE_BYTES;
}

/* The register pc has this value now. */
static COLD void look_for_counter(struct machine_hart *hart, const void *state, uint64_t value) {
    struct counter_search *search = hart->search;
    char copy[STATE_BYTES];

    if (!search) search = hart->search = calloc(1, sizeof *search);
    if (!search || search->tries >= SEARCHES || value == search->last) return;
    search->tries++;
    search->last = value;
    if (!copy_state(state, copy)) return;
    if (state != search->state || !search->count) search->agreements = 0;
    search->state = state;
    compare(search, copy, value);
    if (search->agreements < AGREEMENTS || search->count != 1) return;
    hart->entered = calloc(MACHINE_ENTERED, sizeof *hart->entered);
    hart->page_bits = (width() == 8 ? UINT64_MAX : UINT32_MAX) & ~(uint64_t)(MACHINE_PAGE - 1);
    if (hart->entered) hart->counter = (const char *)state + search->places[0];
}

static uint64_t read_counter(struct machine_hart *hart, const void *state) {
    const uint64_t value = machine_read(hart, REGISTER_ADDRESS);

    hart->is_narrow = hart->bytes->length == sizeof(uint32_t);
    if (hart->bytes->length == width()) look_for_counter(hart, state, value);
    return value;
}

uint64_t machine_address(struct machine_hart *hart, uintptr_t block, const void *state) {
    const uint64_t address = channel->blocks[block_number(block)].address;

    if (block_page(block) == PAGE_PHYSICAL || !hart->registers[REGISTER_ADDRESS]) return address;
    uint64_t differs = (hart->counter ? word_at(hart->counter) : read_counter(hart, state)) ^ address;
    if (hart->is_narrow) differs = (uint32_t)differs;
    const bool elsewhere = differs & (MACHINE_PAGE - 1); /* pages are mapped as a whole */
    if (hart->counter && (elsewhere || !hart->search->until_check--)) {
        hart->search->until_check = CHECK_EVERY;
        machine_check_counter(hart);
    }
    return elsewhere ? address : address ^ differs;
}

void machine_check_counter(struct machine_hart *hart) {
    if (!hart->counter) return;
    const uint64_t expected = machine_read(hart, REGISTER_ADDRESS), found = word_at(hart->counter);
    if (hart->bytes->length == sizeof(uint32_t) ? (uint32_t)expected == (uint32_t)found : expected == found) return;
    fprintf(stderr,
            "ntrace-qemu-machine: program counter at byte %u of QEMU's state: expected 0x%" PRIx64 ", found 0x%" PRIx64
            "; the trace is not valid: report the version of QEMU\n",
            hart->search->places[0], expected, found);
    abort();
}
