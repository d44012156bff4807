/* The state that the files of the capture engine share. From one file to the next, executed code takes this way:
 *
 *   source         words of a lane: numbers of the blocks a hart executes             source.h
 *   harts          which hart, which record                                           harts.h
 *   block chain    blocks known to lead to each other: they extend the run            block_chain.h
 *   hart           everything else, block by block                                    hart.h
 *   run            what was executed and not given to the encoder yet                 run.h
 *
 * and from there through an ntr_encoder, or the classifier and a modelled system (system.h), to the stream. */
#ifndef NTR_CAPTURE_STATE_H
#define NTR_CAPTURE_STATE_H

#include "bundle/stream_write.h"
#include "capture/code.h"
#include "capture/source.h"
#include "capture/system.h"
#include "encoder/run.h"

#include <ntrace/ingress.h>
#include <ntrace/program.h>

/* What is known about a block of the source, ready to be encoded. */
struct ntr_capture_block {
    ntr_code_block code;
    uint32_t generation; /* of ntr_capture_code when memory last agreed with its bytes; 0: the block is not filled in */
    uint32_t space; /* in which it agreed */
    uint32_t executed; /* the block that was executed last when this one was told (hart.c); 0: none was */
    bool is_ecall; /* ends in ECALL; of a machine, also in EBREAK */
    bool last_traps; /* CHANNEL_BLOCK_LAST_TRAPS */
};

/* What a block does to the return stack of the encoder, without a message. */
enum {
    NTR_CAPTURE_STACK_NONE,
    NTR_CAPTURE_STACK_CALL,
    NTR_CAPTURE_STACK_RETURN, /* if it goes where the stack says */
};

/* The same for the block chain (block_chain.h): what the block adds to a run. */
struct ntr_capture_link {
    uint32_t next[2]; /* blocks that follow without a message: [0] not taken or no branch, [1] taken; 0: not known */
    uint64_t sums; /* halfwords, instructions and branches, NTR_CAPTURE_SUM_BITS each: they are added in one step */
    uint64_t start;
    uint32_t space; /* where the block was verified */
    uint16_t halfwords, instructions; /* halfwords 0: nothing is known about the block */
    uint8_t branches; /* 0 or 1 */
    uint8_t jump; /* itype of the register jump at its end; 0: it ends otherwise */
    uint8_t stack; /* NTR_CAPTURE_STACK_* */
    uint32_t callee; /* NTR_CAPTURE_STACK_CALL: what follows, instead of `next`; 0: not known */
};

enum { NTR_CAPTURE_SUM_BITS = 21 };

struct ntr_capture_hart {
    ntr_encoder *encoder; /* NULL: nothing has been executed here, or the hart is one of a modelled system */
    ntr_classifier *classifier;
    struct ntr_capture_lane lane;
    uint64_t time; /* instructions retired */
    uint32_t last; /* block being executed; where it goes is known when the next one begins. 0: none */
    ntr_enc_run run; /* ends where `last` begins */
    uint8_t branches; /* a run with so many branches is given to the encoder */
    uint8_t fill; /* words in `record` */
    uint32_t record[CHANNEL_WORDS];
    uint32_t entry; /* CHANNEL_ENTRY record that applies to the next block, or 0 */
    uint64_t entry_pc; /* with CHANNEL_ENTRY_PC */
    uint16_t tail; /* so many instructions of `last` are not traced: the window opened behind them */
    uint32_t passed; /* the last block before the window opened */
    bool ended; /* by CHANNEL_LOST: later words of the lane are ignored */

    /* Whole machines: */
    uint64_t halted_at; /* `time` when a debugger halted the hart */
    bool stopped; /* CHANNEL_END was read */
    bool moves; /* CHANNEL_CONTEXT was read: the next block begins in satp_next */
    uint64_t clock; /* CHANNEL_TIME that was read last */
    uint64_t satp_next, hgatp_next; /* as in CHANNEL_CONTEXT */
    uint64_t context, hcontext; /* as the trace carries them */
    uint32_t space, space_v; /* of code in U mode and VU mode; 0: not looked up */
    uint8_t told_priv; /* what the classifier knows */
    uint64_t told_context, told_hcontext;
    ntr_ingress_sink sink; /* of the classifier; NULL: the encoder */
    void *sink_user;
};

/* A loop that the guest counts and has not reported; see ntr_capture_harts_poll. */
struct ntr_capture_poll {
    const uint32_t *at; /* position in the lane at the last poll */
    uint32_t number; /* block of the loop; 0: none runs */
    uint64_t count; /* executions seen by the last poll, less `encoded` */
    uint64_t encoded; /* executions encoded before the guest reported them */
};

/* An instruction at which the window opens or closes, or an object whose loads and stores are traced. */
/* A place in the code, or an object. A symbol is everywhere where its file is loaded, at one time or another; at such
 * an address there is the place if the code is that of the symbol. */
enum { NTR_CAPTURE_LOADS = 64, NTR_CAPTURE_PLACE_CODE = 16 };

struct ntr_capture_place {
    bool given, address_known;
    const char *name; /* symbol; NULL: an address was given */
    const char *file; /* of the symbol; owned by the program of the record; NULL: not known, or there is none */
    size_t images; /* that were looked at */
    uint64_t addresses[NTR_CAPTURE_LOADS]; /* the most recent ones, but for `count` */
    size_t count; /* may be more than there are */
    uint8_t code[NTR_CAPTURE_PLACE_CODE]; /* first bytes of the symbol */
    size_t code_size;
    uint64_t size, maps_seen; /* size: of the symbol */
};

/* The part of the execution that is traced (window.h). */
struct ntr_capture_window {
    enum { NTR_CAPTURE_WINDOW_OPEN, NTR_CAPTURE_WINDOW_WAITS, NTR_CAPTURE_WINDOW_CLOSED } state;
    uint64_t skip; /* instructions */
    struct ntr_capture_place start, stop;
    void (*find)(void *user, struct ntr_capture_place *place); /* completes the addresses of a symbol */
    void *user;
};

struct ntr_capture_harts {
    const ntr_allocator *allocator;
    struct channel *channel;
    const ntr_encoder_config *config; /* of every encoder, but for src_id */
    struct ntr_bundle_writer *stream;
    struct ntr_capture_system *system; /* NULL: every hart has an encoder of its own */
    struct ntr_capture_record *record; /* of ntr_capture_target */
    struct ntr_capture_code code;
    struct ntr_capture_block *blocks; /* by number */
    struct ntr_capture_link *links; /* by number */
    uint32_t block_capacity;
    struct ntr_capture_hart *harts; /* by lane; CHANNEL_LANES of them */
    struct ntr_capture_poll poll;
    struct ntr_capture_window window;
    struct ntr_capture_place watched; /* given: only its loads and stores are traced */
    uint64_t pause_at; /* offset in the stream at which draining stops, at the end of a batch */
    unsigned isa; /* extensions of the CPU that reuse encodings: NTR_ISA_ZCMP, NTR_ISA_ZCMT */
    uint32_t traced; /* lanes that are traced: as many as SRC distinguishes */
    ntr_status (*widen)(void *user, uint32_t hart); /* of ntr_capture_target */
    void *user;
    struct ntr_capture_machine *machine; /* NULL: user mode */
    bool keeps_spaces; /* the trace carries privilege modes and contexts, so code is kept for each */
    bool in_runs; /* the encoders take runs of blocks */
    bool unknown; /* blocks were executed whose code is not known (hart.c) */
    uint64_t discontinuities; /* places where a block does not follow the one before it, and nothing explains it */
    uint64_t expected, found; /* the first of them: the address that follows, and that of the block */
    bool rewritten; /* code changed at an unknown place of the stream */
    bool lost; /* a table of the channel was full */
    bool untraced; /* there were more lanes than `traced` */
    ntr_status failure; /* first failure of an encoder or allocation; NTR_OK: none */
};

static inline void ntr_capture_note(struct ntr_capture_harts *harts, ntr_status status) {
    if (status != NTR_OK && harts->failure == NTR_OK) harts->failure = status;
}

/* The time for timestamps, when the hart has retired so many instructions more. */
static inline uint64_t ntr_capture_now(const struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                       uint64_t more) {
    return harts->channel->head.clock ? hart->clock : hart->time + more;
}

static inline const struct channel_block *ntr_capture_shared(const struct ntr_capture_harts *harts, uint32_t number) {
    return &harts->channel->blocks[number];
}

static inline bool ntr_capture_is_register_jump(const ntr_code_block *code) {
    return code->flow >= NTR_FLOW_INDIRECT_JUMP && code->flow <= NTR_FLOW_RETURN;
}

/* The address that follows without a taken branch; NTR_ADDRESS_UNKNOWN after a register jump or a trap return, also
 * when it goes to the next instruction. */
static inline uint64_t ntr_capture_successor(const ntr_code_block *code) {
    if (ntr_capture_is_register_jump(code) || code->flow == NTR_FLOW_TRAP_RETURN) return NTR_ADDRESS_UNKNOWN;
    if (code->flow == NTR_FLOW_DIRECT_JUMP || code->flow == NTR_FLOW_DIRECT_CALL) return code->target;
    return code->start + 2u * code->halfwords;
}

static inline bool ntr_capture_is_taken(const ntr_code_block *code, uint64_t next) {
    return code->flow == NTR_FLOW_BRANCH && next == code->target && next != ntr_capture_successor(code);
}

static inline bool ntr_capture_leads_to(const ntr_code_block *code, uint64_t next) {
    return ntr_capture_successor(code) == next || ntr_capture_is_taken(code, next);
}

/* Does the jump at the end of the block need a message with its target? Not if LUI or AUIPC before it says the target;
 * a co-routine swap then needs one only because it uses the return stack. */
static inline bool ntr_capture_needs_target(const struct ntr_capture_harts *harts, const ntr_code_block *code) {
    const ntr_params *params = &harts->config->params;
    bool constant = code->constant_register && code->instructions > 1 && code->constant_register == code->jump_register;

    if (!ntr_capture_is_register_jump(code)) return false;
    if (!constant || !params->sequential_jump || code->itype == NTR_ITYPE_RETURN) return true;
    return code->itype == NTR_ITYPE_CO_SWAP && params->implicit_return != NTR_RETURN_OFF;
}

#endif
