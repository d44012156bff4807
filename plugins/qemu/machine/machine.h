/* What the files of the plugin for whole machines share.
 *
 * At the start of each block its number is written to the ring of its hart (record.c). The privilege mode is a constant
 * of the translation, so it is part of the block. What a block cannot show about itself is settled when the next one
 * begins: how many of its instructions retired, traps, resets, a new address space. `slow` in struct machine_hart says
 * that something may have to be settled; translated code itself clears BLOCK_OPEN when the last instruction begins. The
 * address of a translation is not always that at which it executes (address.c, places.c). */
#ifndef NTRACE_QEMU_MACHINE_H
#define NTRACE_QEMU_MACHINE_H

#include "api.h"
#include "shared.h"

/* What has to be settled behind a block. */
enum {
    BLOCK_OPEN = 1 << 0,   /* it may be left before its last instruction; cleared when that one begins */
    BLOCK_SPACE = 1 << 1,  /* its last instruction may write satp, vsatp or hgatp */
    BLOCK_ATOMIC = 1 << 2, /* its last instruction is atomic; QEMU may execute it again in a block of its own */
    BLOCK_MARKS = 1 << 3,  /* `reached` is kept */
    BLOCK_JUMPS = 1 << 6,  /* it may continue in another page */
    BLOCK_TASK = 1 << 5,   /* it moves a value to tp in S mode, as Linux does when it switches to another task */
    BLOCK_TRAPPED = 1 << 4, /* a trap was told since; never of a translation */
};

/* What a callback gets: the number of the block, what is to be settled (BLOCK_*), and its page (places.c). */
enum { BLOCK_KIND_SHIFT = 24, BLOCK_PAGE_SHIFT = 32 };

_Static_assert(CHANNEL_BLOCKS <= 1u << BLOCK_KIND_SHIFT && sizeof(void *) == 8, "a pointer holds all three");

enum { MACHINE_PAGE = 4096 }; /* bytes */

enum { PRIVILEGE_V = 4 }; /* bit of the register priv: a virtual machine of the hypervisor extension */

enum machine_register {
    REGISTER_PRIV,
    REGISTER_SATP,
    REGISTER_HGATP,
    REGISTER_MCAUSE,
    REGISTER_SCAUSE,
    REGISTER_MTVAL,
    REGISTER_STVAL,
    REGISTER_TP,
    REGISTER_ADDRESS,
    REGISTER_TIME,
    REGISTER_TIMEH,
    REGISTER_COUNT
};

/* A page that the hart has entered: blocks of it have executed at their own addresses. */
struct machine_entered {
    uint64_t address, epoch;
    uint32_t number; /* 0: free */
};

enum { MACHINE_ENTERED = 1 << 12 }; /* slots */

/* An element of the scoreboard: one for each vCPU. Its thread alone uses it. */
struct machine_hart {
    uint64_t slow;           /* BLOCK_*; stored by translated code */
    uint64_t reached;        /* instruction of the last block that was begun last, among those that have a mark */
    const volatile char *log;  /* the hot path looks at this byte: the next line, or a byte that is not 0 */
    const volatile char *line; /* the next line that was not read */
    struct channel_lane *lane;
    uint32_t page;           /* places.c: the last block ran at its own address in this page; 0: it did not */
    uint32_t last;           /* block told last; 0: none */

    /* address.c: */
    const void *counter;             /* the program counter; NULL: its place is not known */
    struct machine_entered *entered; /* by number of the page; not NULL if `counter` is not */
    uint64_t page_bits;              /* of an address: those above the offset in the page */
    uint64_t epoch;                  /* changes with the address space, and with `virtual` */
    struct counter_search *search;
    bool is_narrow;                  /* the register pc has 32 bits */

    uint32_t traps;          /* told since */
    uint64_t stopped_at;     /* valid while `stopped`: the instruction that would be executed next */
    bool stopped;            /* the hart sleeps, or the machine has stopped it */
    uint64_t satp, hgatp;    /* as reported last: of the V modes, vsatp and hgatp; else satp and 0 */
    uint8_t virtual;         /* PRIVILEGE_V of the block that was reported last, or 0 */
    struct qemu_plugin_register *registers[REGISTER_COUNT]; /* NULL: the hart does not have it */
    qemu_bytes *bytes;       /* for reading registers */
    uint32_t until_time;     /* blocks; then the time is read. Not used without channel_head.clock */

    struct place *places;    /* places.c: blocks that have run at other addresses; NULL: none yet */

    /* linux.c: */
    uint64_t task;  /* as told */
    uint8_t name[16];
    uint8_t waits;  /* settle so many blocks of the kernel more, then look at the name of the task */
    bool renames;   /* the address space has changed, so the name may change */
};

/* hart.c */
extern struct qemu_plugin_scoreboard *machine_harts;

/* QEMU does not report when a hart stops, as with -icount: each instruction that may be left gets a mark. */
extern bool machine_marks_all;

/* QEMU makes room for so many harts at once; the elements then stay where they are. NULL: there are more. */
enum { HARTS_AT_ONCE = 16 };
extern struct machine_hart *machine_few;

static inline struct machine_hart *machine_hart(unsigned vcpu) {
    return LIKELY(machine_few && vcpu < HARTS_AT_ONCE) ? machine_few + vcpu
                                                       : qemu_plugin_scoreboard_find(machine_harts, vcpu);
}

void machine_harts_new(int most); /* there will be at most so many */
struct machine_hart *machine_hart_begin(unsigned vcpu); /* by its thread, when it starts */
struct machine_hart *machine_present(void); /* of the calling thread; NULL: it is not that of a hart */
unsigned machine_present_vcpu(void); /* its number */
uint64_t machine_read(struct machine_hart *hart, enum machine_register name);

/* translate.c */
QEMU_TB_CALLBACK(machine_translate);

/* accesses.c */
void machine_put_accesses(struct qemu_plugin_tb *tb);

/* address.c. `state`: QEMU's state of the hart, if it is known. */
uint64_t machine_address(struct machine_hart *hart, uintptr_t block, const void *state);
void machine_check_counter(struct machine_hart *hart);

/* places.c */
enum { PAGE_PHYSICAL = 1 }; /* of code that executes at physical addresses */
uint32_t machine_page(uint64_t address, uint8_t privilege); /* the lock is held */
bool machine_leaves_page(const struct translation *t, uint32_t last, uint32_t last_at);
uint32_t machine_place(struct machine_hart *hart, uintptr_t block, uint64_t address);

static inline uint32_t block_number(uintptr_t block) {
    return (uint32_t)block & ((1u << BLOCK_KIND_SHIFT) - 1);
}

static inline uint32_t block_page(uintptr_t block) {
    return (uint32_t)(block >> BLOCK_PAGE_SHIFT);
}

/* retired.c: what is told about the last block, at a trap (`first`: the first one since), at a reset, and where the
 * next block begins at `next` without either. machine_retired_at_end: how many of its instructions retired, or
 * CHANNEL_ALL. */
void machine_take_trap(struct machine_hart *hart, uint32_t flags, uint64_t cause, uint64_t epc, uint64_t tval,
                       bool first);
void machine_take_reset(struct machine_hart *hart);
void machine_settle_flow(struct machine_hart *hart, uint64_t next);
unsigned machine_retired_at_end(const struct machine_hart *hart);
void machine_report_time(struct machine_hart *hart);
void machine_push_pair(struct machine_hart *hart, uint64_t value);

/* record.c */
void machine_record(unsigned vcpu, void *block); /* at the start of a block */
void machine_record_timed(unsigned vcpu, void *block); /* the same with the time, every so many blocks */
void machine_record_in(unsigned vcpu, void *block, const void *state);
void machine_record_timed_in(unsigned vcpu, void *block, const void *state);
void machine_lost(unsigned vcpu, void *nothing);
void machine_halt(unsigned vcpu); /* a debugger may have stopped the hart */
void machine_end(unsigned vcpu); /* the machine has ended, and the hart has stopped */

/* linux.c: the last block has moved a value to tp; a block begins, in a new mode, perhaps behind a trap; code of user
 * mode is translated, or executes at another address (with the lock held). */
void machine_switch_task(struct machine_hart *hart);
void machine_check_task(struct machine_hart *hart, uint8_t before, uint8_t now, bool trapped);
void machine_report_page(struct machine_hart *hart, uint64_t address);

/* traps.c: QEMU's log. Returns how many lines concerned the hart. */
bool machine_map_log(const char *path);
const volatile char *machine_log_start(void);
unsigned machine_read_log(struct machine_hart *hart, unsigned vcpu);
void machine_log_idle(struct machine_hart *hart);   /* the hart sleeps, and writes no lines */
void machine_log_resume(struct machine_hart *hart); /* it continues */
void machine_watch_traps(qemu_id id);

#endif
