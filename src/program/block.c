#include "program/block.h"
#include "isa/plain.h"
#include "program/unknown.h"

/* Size of the longest register jump, which may follow a LUI or AUIPC. */
#define JUMP_HALFWORDS 2

/* Decodes consecutive instructions. The bytes come from one window as far as it extends. */
typedef struct insn_walk {
    const ntr_program *program;
    const ntr_context *context;
    uint64_t position, pc;
    ntr_code_window window; /* size 0: there is none */
    unsigned isa;           /* of the window */
    const uint8_t *bytes;   /* at `pc`, at least LONGEST_INSN of them; NULL: the window ends before, or rules apply */
} insn_walk;

/* Bytes of the longest instruction that has a class. */
#define LONGEST_INSN 8

static ntr_place place_of(const insn_walk *at) {
    return ntr_place_at(at->context, at->position, at->pc);
}

static const ntr_code_window *window_of(const insn_walk *at) {
    return at->window.size ? &at->window : NULL;
}

static void find_window(insn_walk *at) {
    if (!ntr_program_window(at->program, place_of(at), &at->window))
        at->window.size = 0;
    else
        at->isa = ntr_image_isa(at->program, &at->program->images[at->window.image]);
}

static ntr_status decode(insn_walk *at, ntr_insn *insn) {
    if (at->pc - at->window.first >= at->window.size) find_window(at);
    const uint64_t offset = at->pc - at->window.first;
    const bool whole =
        at->window.size >= LONGEST_INSN && offset <= at->window.size - LONGEST_INSN && !at->program->rule_count;
    at->bytes = whole ? at->window.bytes + offset : NULL;
    if (whole && ntr_insn_take_linear(at->bytes, insn)) return NTR_OK;
    if (whole && ntr_insn_decode(at->bytes, LONGEST_INSN, at->pc, at->isa, insn) == NTR_OK && !insn->table_jump)
        return NTR_OK;
    return ntr_program_decode(at->program, place_of(at), window_of(at), insn);
}

static bool fits(const ntr_block *block, const ntr_insn *insn) {
    unsigned room = NTR_BLOCK_HALFWORDS_MAX - block->halfwords, size = insn->size / 2u;
    return size + (insn->sets_constant ? JUMP_HALFWORDS : 0) <= room;
}

static void append(ntr_block *block, const ntr_insn *insn) {
    block->starts[block->halfwords / 64] |= UINT64_C(1) << block->halfwords % 64;
    block->halfwords = (uint8_t)(block->halfwords + insn->size / 2);
    block->instructions++;
    block->last_halfwords = (uint8_t)(insn->size / 2);
}

/* N-Trace 1.0 section 11.1: a register jump (not a return) whose register is set by the preceding instruction. */
static bool is_sequential(const ntr_insn *constant, const ntr_insn *jump) {
    bool kind =
        jump->flow == NTR_FLOW_INDIRECT_JUMP || jump->flow == NTR_FLOW_INDIRECT_CALL || jump->flow == NTR_FLOW_CO_SWAP;
    return kind && constant->sets_constant && constant->rd == jump->rs1;
}

static void finish(ntr_block *block, const ntr_program *program, const ntr_insn *before, const ntr_insn *last) {
    block->flow = last->flow;
    block->itype = last->itype;
    block->target = last->target;
    if (is_sequential(before, last)) {
        block->flags |= NTR_BLOCK_SEQUENTIAL;
        block->target = ntr_program_cut(program, before->target + (uint64_t)last->immediate) & ~UINT64_C(1);
    }
}

/* Why the flow is not known behind this instruction, or NTR_OK. */
static ntr_status unfollowed(ntr_status status, const ntr_insn *insn) {
    if (status == NTR_E_JUMP_TABLE && insn->flow != NTR_FLOW_LINEAR) return NTR_OK; /* NTR_BLOCK_NO_TARGET */
    if (status != NTR_OK) return status;
    return insn->loop ? NTR_E_HARDWARE_LOOP : NTR_OK;
}

static bool is_unknown(const insn_walk *at, const ntr_insn *insn) {
    if (insn->flow != NTR_FLOW_LINEAR || insn->sets_constant) return false;
    if (at->bytes && ntr_insn_is_plain(ntr_little_32(at->bytes))) return false;
    return !ntr_program_is_known(at->program, place_of(at), window_of(at));
}

void ntr_block_make(ntr_block *block, const ntr_program *program, const ntr_context *context, uint64_t position,
                    uint64_t address) {
    insn_walk at = {.program = program, .context = context, .position = position, .pc = address};
    ntr_insn before = {0}, insn = {0};
    block->start = block->key = address;
    for (;;) {
        before = insn;
        const ntr_status status = decode(&at, &insn), reason = unfollowed(status, &insn);
        if (reason != NTR_OK) {
            block->flags |= NTR_BLOCK_CUT | NTR_BLOCK_NO_IMAGE;
            block->status = (int16_t)reason;
            break;
        }
        const bool unknown = is_unknown(&at, &insn);
        if (!fits(block, &insn) || (unknown && block->halfwords)) {
            block->flags |= NTR_BLOCK_CUT;
            break;
        }
        if (unknown) ntr_unknown_note(program->unknown, at.pc, position);
        append(block, &insn);
        at.pc = ntr_program_cut(program, at.pc + insn.size);
        if (status != NTR_OK) block->flags |= NTR_BLOCK_NO_TARGET;
        if (insn.flow != NTR_FLOW_LINEAR) {
            finish(block, program, &before, &insn);
            break;
        }
    }
    block->next = at.pc;
}

/* The block ends after `halfwords` halfwords. */
static void cut_block(ntr_block *block, const ntr_program *program, unsigned halfwords) {
    block->instructions = (uint8_t)ntr_block_count(block, halfwords);
    block->last_halfwords = (uint8_t)(halfwords - ntr_block_before(block, halfwords));
    block->next = ntr_program_cut(program, block->start + 2 * halfwords);
    for (unsigned i = halfwords; i < block->halfwords; i++) block->starts[i / 64] &= ~(UINT64_C(1) << i % 64);
    block->halfwords = (uint8_t)halfwords;
    block->flow = NTR_FLOW_LINEAR;
    block->itype = NTR_ITYPE_NONE;
    block->target = 0;
    block->flags = NTR_BLOCK_CUT;
}

void ntr_block_divide(ntr_block *block, const ntr_program *program, const ntr_context *context, uint64_t position,
                      ntr_block_same *same, void *user) {
    const bool falls = block->flow == NTR_FLOW_LINEAR && !(block->flags & NTR_BLOCK_NO_IMAGE);
    const unsigned end = block->halfwords, last = end - block->last_halfwords, checked = falls ? end : last;
    uint64_t addresses[2] = {block->start, ntr_program_cut(program, block->start + 2 * checked)};
    unsigned part = 0;
    if (same(user, context, position, addresses, 2)) return;
    do {
        part = ntr_block_after(block, part);
        addresses[1] = ntr_program_cut(program, block->start + 2 * part);
    } while (part < checked && same(user, context, position, addresses, 2));
    if (part > checked || (block->flags & NTR_BLOCK_SEQUENTIAL && part == last)) return;
    if (part < end) cut_block(block, program, part);
    block->flags |= NTR_BLOCK_DIVIDED;
}

/* Addresses are computed modulo the address space, because a block may wrap around its end. */
bool ntr_block_depends(const ntr_block *block, const ntr_program *program, uint64_t first, uint64_t last) {
    uint64_t reach = 2u * block->halfwords + (block->flags & NTR_BLOCK_NO_IMAGE ? NTR_INSN_BYTES_MAX : 0u);
    return ntr_program_cut(program, first - block->start) < reach ||
           ntr_program_cut(program, block->start - first) <= last - first;
}

unsigned ntr_block_count(const ntr_block *block, unsigned halfwords) {
    unsigned count = 0;
    for (unsigned i = 0; i < NTR_BLOCK_WORDS && halfwords > 64 * i; i++) {
        uint64_t word = block->starts[i];
        if (halfwords < 64 * (i + 1)) word &= (UINT64_C(1) << halfwords % 64) - 1;
        count += (unsigned)__builtin_popcountll(word);
    }
    return count;
}

unsigned ntr_block_after(const ntr_block *block, unsigned halfwords) {
    for (unsigned at = halfwords + 1; at < block->halfwords; at = at / 64 * 64 + 64) {
        uint64_t word = block->starts[at / 64] >> at % 64;
        if (word) return at + (unsigned)__builtin_ctzll(word);
    }
    return block->halfwords;
}

unsigned ntr_block_before(const ntr_block *block, unsigned halfwords) {
    while (halfwords-- > 0)
        if (block->starts[halfwords / 64] >> halfwords % 64 & 1) break; /* usually one or two steps */
    return halfwords;
}
