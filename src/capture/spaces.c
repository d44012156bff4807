#include "capture/spaces.h"
#include "base/allocator.h"
#include "capture/run.h"
#include "ingress/hand_over.h"

enum { PRIV_V = 4 }; /* in channel_block.privilege */

ntr_status ntr_capture_machine_init(struct ntr_capture_harts *harts, bool no_contexts) {
    harts->machine = ntr_alloc(harts->allocator, 1, sizeof *harts->machine);
    harts->keeps_spaces = harts->config->ownership != NTR_OWNERSHIP_OFF;
    if (!harts->machine) return NTR_E_MEMORY;
    harts->machine->no_contexts = no_contexts;
    return NTR_OK;
}

void ntr_capture_machine_free(struct ntr_capture_harts *harts) {
    if (!harts->machine) return;
    ntr_dealloc(harts->allocator, harts->machine->roots);
    ntr_dealloc(harts->allocator, harts->machine->tasks.items);
    ntr_dealloc(harts->allocator, harts->machine->pages.items);
    ntr_dealloc(harts->allocator, harts->machine);
    harts->machine = NULL;
}

/* ---- address spaces -----------------------------------------------------------------------------------------------
 */

static unsigned asid_of(const struct ntr_capture_harts *harts, uint64_t satp) {
    return harts->channel->head.xlen == 32 ? satp >> 22 & 0x1ff : satp >> 44 & 0xffff;
}

static unsigned vmid_of(const struct ntr_capture_harts *harts, uint64_t hgatp) {
    return harts->channel->head.xlen == 32 ? hgatp >> 22 & 0x7f : hgatp >> 44 & 0x3fff;
}

static struct ntr_capture_root *slot_of(struct ntr_capture_root *roots, size_t capacity, uint64_t satp,
                                        uint64_t hgatp) {
    size_t at = (size_t)((satp ^ hgatp * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u >> 32);

    for (;; at++) {
        struct ntr_capture_root *slot = &roots[at & (capacity - 1)];
        if (!slot->context || (slot->satp == satp && slot->hgatp == hgatp)) return slot;
    }
}

static bool grow(struct ntr_capture_harts *harts) {
    enum { ROOTS_FIRST = 1024 };
    struct ntr_capture_machine *machine = harts->machine;
    size_t capacity = machine->capacity ? 2 * machine->capacity : ROOTS_FIRST;
    struct ntr_capture_root *roots = ntr_alloc(harts->allocator, capacity, sizeof *roots);

    if (!roots) return false;
    for (size_t i = 0; i < machine->capacity; i++)
        if (machine->roots[i].context)
            *slot_of(roots, capacity, machine->roots[i].satp, machine->roots[i].hgatp) = machine->roots[i];
    ntr_dealloc(harts->allocator, machine->roots);
    machine->roots = roots;
    machine->capacity = capacity;
    return true;
}

/* ASID 0 begins at 0x10000: 0 is no address space. */
static uint64_t nth_context(unsigned asid, uint32_t n) {
    return asid + (((uint64_t)n + (asid == 0)) << 16);
}

static uint64_t context_of(struct ntr_capture_harts *harts, uint64_t satp, uint64_t hgatp) {
    struct ntr_capture_machine *machine = harts->machine;
    unsigned asid = asid_of(harts, satp);
    uint32_t *same = &machine->with_asid[asid];

    if (!satp && !hgatp) return 0;
    if (2 * (machine->count + 1) > machine->capacity && machine->count < NTR_CAPTURE_ROOTS_MOST && !grow(harts)) {
        ntr_capture_note(harts, NTR_E_MEMORY);
        return 0;
    }
    struct ntr_capture_root *root = slot_of(machine->roots, machine->capacity, satp, hgatp);
    if (root->context) return root->context;
    if (machine->count == NTR_CAPTURE_ROOTS_MOST) return nth_context(asid, *same ? *same - 1 : 0);
    machine->count++;
    *root = (struct ntr_capture_root){satp, hgatp, nth_context(asid, (*same)++)};
    return root->context;
}

void ntr_capture_machine_move(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    ntr_capture_run_flush(harts, hart); /* the run is in the space that is left */
    hart->moves = false;
    if (harts->keeps_spaces && !harts->machine->no_contexts) {
        hart->context = context_of(harts, hart->satp_next, hart->hgatp_next);
        hart->hcontext = vmid_of(harts, hart->hgatp_next);
    }
    hart->space = hart->space_v = 0;
}

static uint32_t find_space(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart, unsigned privilege) {
    bool is_user = (privilege & 3) == 0;
    const struct ntr_capture_space space = {.has_prv = true,
                                            .prv = privilege & 3,
                                            .v = (privilege & PRIV_V) != 0,
                                            .has_context = is_user,
                                            .context = is_user ? hart->context : 0};
    uint32_t found = ntr_capture_code_space(&harts->code, &space);

    if (!found) ntr_capture_note(harts, NTR_E_MEMORY);
    return found;
}

uint32_t ntr_capture_machine_space(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                   uint32_t number) {
    unsigned privilege = ntr_capture_shared(harts, number)->privilege & 7;
    struct ntr_capture_hart *own = &harts->harts[hart - harts->harts];
    uint32_t *known = privilege & 3        ? &harts->machine->spaces[privilege]
                      : privilege & PRIV_V ? &own->space_v
                                           : &own->space;

    if (!*known) *known = find_space(harts, hart, privilege);
    return *known;
}

/* ---- state of the hart --------------------------------------------------------------------------------------------
 */

static uint8_t priv_of(unsigned privilege) {
    static const uint8_t privs[8] = {NTR_PRIV_U,  NTR_PRIV_S,  NTR_PRIV_S,  NTR_PRIV_M,
                                     NTR_PRIV_VU, NTR_PRIV_VS, NTR_PRIV_VS, NTR_PRIV_M};
    return privs[privilege & 7];
}

uint8_t ntr_capture_machine_priv(const struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart) {
    return priv_of(ntr_capture_shared(harts, hart->last)->privilege);
}

bool ntr_capture_machine_is_reported(const struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart) {
    return !harts->keeps_spaces ||
           ntr_enc_has_reported(hart->encoder, ntr_capture_machine_priv(harts, hart), hart->context, hart->hcontext);
}

static void note_told(struct ntr_capture_hart *hart, uint8_t priv) {
    hart->told_priv = priv;
    hart->told_context = hart->context;
    hart->told_hcontext = hart->hcontext;
}

void ntr_capture_machine_reported(struct ntr_capture_hart *hart, uint8_t priv) {
    note_told(hart, priv);
    ntr_classifier_state_reported(
        hart->classifier, &(ntr_hart_state){.priv = priv, .scontext = hart->context, .hcontext = hart->hcontext});
}

void ntr_capture_machine_set_state(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t now) {
    bool timed = harts->config->params.timestamps == NTR_TIMESTAMPS_ON;
    uint8_t priv = ntr_capture_machine_priv(harts, hart);

    if (!timed && priv == hart->told_priv && hart->context == hart->told_context &&
        hart->hcontext == hart->told_hcontext)
        return;
    note_told(hart, priv);
    ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = priv,
                                                                 .scontext = hart->context,
                                                                 .hcontext = hart->hcontext,
                                                                 .time = timed ? now : 0});
}
