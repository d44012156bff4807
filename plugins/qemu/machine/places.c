/* The address at which a block executes.
 *
 * QEMU translates code once for all virtual addresses at which its page of memory is mapped, and tells the plugin the
 * one at which it was translated. A shared library is at another address in each process, so the address has to be read
 * when the block begins (address.c). It is read where the flow enters a page: behind indirect jumps, direct ones that
 * leave their page, traps, and whenever the translation's page is not that of the block before.
 *
 * Invariant: if hart->page is not 0, the block before has executed in that page. If it continues in its page, and the
 * next translation was made in that page too, the next block executes at the address of its translation.
 *
 * A block at another address gets a number of its own: an entry of the table with the same code. While blocks execute
 * elsewhere, hart->page is 0, and the address of each is read. */
#include "machine.h"
#include "riscv.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_TOLD UINT32_MAX
enum { KNOWN_PLACES = 1 << 14 };

/* Slot of a cache: this block has run at this address, and then has this number. Or, with the number PAGE_TOLD, a page
 * of user mode was told. */
struct place {
    uint64_t address, of; /* the block, or satp */
    uint32_t number;      /* 0: free */
};

/* ---- translations -------------------------------------------------------------------------------------------------
 */

static uint64_t page_of(uint64_t address) {
    return address & ~(uint64_t)(MACHINE_PAGE - 1);
}

/* Numbers of virtual pages, of each mode: a hash table with open addressing, at most half full. 0: there is no memory
 * for it. */
uint32_t machine_page(uint64_t address, uint8_t privilege) {
    static uint64_t *pages; /* address, and the mode + 1 in the low bits; 0: free */
    static uint32_t *numbers, size, used;
    uint32_t at;

    if (privilege == 3) return PAGE_PHYSICAL;
    if (2 * (used + 1) > size) {
        uint32_t larger = size ? 2 * size : 4096;
        uint64_t *more = calloc(larger, sizeof *more);
        uint32_t *more_numbers = calloc(larger, sizeof *more_numbers);
        if (!more || !more_numbers) {
            free(more);
            free(more_numbers);
            return 0;
        }
        for (uint32_t i = 0; i < size; i++) {
            if (!pages[i]) continue;
            for (at = (uint32_t)(pages[i] * 0x9e3779b97f4a7c15u >> 32); more[at & (larger - 1)]; at++) {
            }
            more[at & (larger - 1)] = pages[i];
            more_numbers[at & (larger - 1)] = numbers[i];
        }
        free(pages);
        free(numbers);
        pages = more;
        numbers = more_numbers;
        size = larger;
    }
    uint64_t key = page_of(address) | (privilege + 1u);
    for (at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32); pages[at & (size - 1)]; at++)
        if (pages[at & (size - 1)] == key) return numbers[at & (size - 1)];
    pages[at & (size - 1)] = key;
    return numbers[at & (size - 1)] = PAGE_PHYSICAL + ++used;
}

bool machine_leaves_page(const struct translation *t, uint32_t last, uint32_t last_at) {
    uint64_t page = page_of(t->address);
    int64_t offset;

    if (t->privilege == 3) return false;
    if (riscv_is_indirect(last) || page_of(t->address + t->size) != page) return true;
    return (riscv_is_branch(last, &offset) || riscv_is_direct_jump(last, channel->head.xlen, &offset)) &&
           page_of(t->address + last_at + (uint64_t)offset) != page;
}

/* ---- execution ----------------------------------------------------------------------------------------------------
 */

/* The entry of this cache for the two values; NULL: there is no memory for one. */
static struct place *find(struct machine_hart *hart, uint64_t address, uint64_t of) {
    if (!hart->places) hart->places = calloc(KNOWN_PLACES, sizeof *hart->places);
    uint64_t hash = (address ^ of * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    return hart->places ? &hart->places[hash >> 32 & (KNOWN_PLACES - 1)] : NULL;
}

/* The same code at another address. */
static uint32_t number_at(uint32_t number, uint64_t address) {
    static struct translation t; /* large; protected by the lock */
    const struct channel_block *block = &channel->blocks[number];

    t.address = address;
    t.size = block->size;
    t.instructions = block->instructions;
    t.privilege = block->privilege;
    memcpy(t.bytes, channel->code + block->code, block->size);
    return blocks_number(&t);
}

/* A page of user mode is told for each address space, also when its code was translated before. */
static void tell_page(struct machine_hart *hart, uint64_t address) {
    uint64_t page = page_of(address);
    struct place *place = find(hart, page, hart->satp);

    if (!place || (place->number == PAGE_TOLD && place->address == page && place->of == hart->satp)) return;
    *place = (struct place){page, hart->satp, PAGE_TOLD};
    plugin_lock();
    machine_report_page(hart, page);
    plugin_unlock();
}

static uint32_t place_elsewhere(struct machine_hart *hart, uint32_t number, uint64_t address) {
    struct place *place = find(hart, address, number);

    if (place && place->number && place->number != PAGE_TOLD && place->address == address && place->of == number)
        return place->number;
    plugin_lock();
    uint32_t other = number_at(number, address);
    plugin_unlock();
    if (place && other) *place = (struct place){address, number, other};
    return other;
}

/* enters_page (record.c) answers for it from now on. */
static void remember_page(struct machine_hart *hart, uint32_t page, uint64_t address) {
    if (hart->entered && page > PAGE_PHYSICAL)
        hart->entered[page % MACHINE_ENTERED] = (struct machine_entered){page_of(address), hart->epoch, page};
}

uint32_t machine_place(struct machine_hart *hart, uintptr_t block, uint64_t address) {
    uint32_t number = block_number(block);

    if (channel->blocks[number].privilege == 0) tell_page(hart, address);
    if (LIKELY(channel->blocks[number].address == address)) {
        hart->page = block_page(block);
        remember_page(hart, hart->page, address);
        return number;
    }
    hart->page = 0;
    return place_elsewhere(hart, number, address);
}
