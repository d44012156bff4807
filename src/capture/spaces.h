/* Privilege modes and address spaces of the harts of a whole machine.
 *
 * The context of the trace (scontext) stands for the address space: the ASID of satp. ASIDs are used again, and some
 * CPUs have none. So a pair of ASID and root page table that is not the first one with this ASID gets a number of its
 * own above the ASID: context = ASID + (n << 16).
 * Example: satp 8000100000091b81 is context 1; satp 8000000000080000 and 8000000000080005, both with ASID 0, are the
 * contexts 10000 and 20000 (hexadecimal), because 0 stands for no address space. In the V modes of the hypervisor
 * extension, the ASID is that of vsatp, and each pair of vsatp and hgatp is an address space. Behind a million address
 * spaces, the next ones have the context of the last one with their ASID.
 *
 * hcontext is the VMID of hgatp in V modes, and 0 elsewhere. */
#ifndef NTR_CAPTURE_SPACES_H
#define NTR_CAPTURE_SPACES_H

#include "capture/state.h"

/* An address space: a value of satp, or in V modes those of vsatp and hgatp. */
struct ntr_capture_root {
    uint64_t satp, hgatp;
    uint64_t context; /* 0: a free slot */
};

enum {
    NTR_CAPTURE_ROOTS_MOST = 1 << 20, /* address spaces that are told apart; a hostile guest may have more */
    NTR_CAPTURE_ASIDS = 1 << 16,
};

/* What is known about the guest at an offset in the stream: the task that runs, or the content of a page of user mode.
 */
struct ntr_capture_guest_note {
    uint64_t position, context;
    uint32_t lane;
    uint32_t words[8]; /* of the record, behind the first */
};

struct ntr_capture_notes {
    struct ntr_capture_guest_note *items;
    size_t count, capacity;
};

struct ntr_capture_machine {
    struct ntr_capture_notes tasks, pages;
    struct ntr_capture_root *roots; /* a hash table, at most half full */
    size_t count, capacity;         /* the capacity is a power of two, or 0 */
    uint32_t with_asid[NTR_CAPTURE_ASIDS]; /* how many have it */
    bool no_contexts;   /* all contexts are 0 */
    uint32_t spaces[8]; /* of code by privilege; 0: not looked up */
};

/* `no_contexts`: all contexts are 0. Errors: NTR_E_MEMORY. */
ntr_status ntr_capture_machine_init(struct ntr_capture_harts *harts, bool no_contexts);
void ntr_capture_machine_free(struct ntr_capture_harts *harts);

/* Which space holds the code of the block, when the hart executes it? */
uint32_t ntr_capture_machine_space(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                   uint32_t number);

/* The privilege mode (ntr_priv) of the last block of the hart. */
uint8_t ntr_capture_machine_priv(const struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart);

/* Have the messages of the hart reported the privilege mode and the context of its last block? Only then it may become
 * part of a run. */
bool ntr_capture_machine_is_reported(const struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart);

/* The encoder has reported the privilege mode and the context of the last block without the classifier, which learns it
 * here. */
void ntr_capture_machine_reported(struct ntr_capture_hart *hart, uint8_t priv);

/* The classifier takes the last block of the hart next: tell it the privilege mode and the context. */
void ntr_capture_machine_set_state(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t now);

/* The next block begins in another address space. */
void ntr_capture_machine_move(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart);

#endif
