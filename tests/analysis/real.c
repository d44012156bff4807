/* Drives a real library (the messages, instructions and encoder of this project) with random bytes, for tests/analysis/mcdc.py. */
#include <ntrace/message_layout.h>
#include <ntrace/encoder.h>
#include <ntrace/encoder_hardware.h>
#include <ntrace/ingress_block.h>
#include <ntrace/isa.h>
#include <ntrace/message.h>
#include <stdio.h>

static uint64_t state = 1;
static unsigned next_byte(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 56);
}

static unsigned long long sum;

static void message(const ntr_params *params) {
    uint8_t raw[40], again[80];
    char text[4096];
    size_t size = 2 + next_byte() % 30, column;
    ntr_message m;
    for (size_t i = 0; i < size; i++) {
        raw[i] = (uint8_t)next_byte();
        if (next_byte() % 4) raw[i] &= 0xfc; /* few ends of fields */
    }
    raw[0] = (uint8_t)((next_byte() % 40) << 2);
    raw[size - 1] |= 3;
    sum += (unsigned)ntr_message_decode(params, (ntr_bytes){raw, size}, &m);
    sum += (unsigned)ntr_message_encode(params, &m, again, sizeof again);
    sum += (unsigned)ntr_message_format_json(params, &m, text, sizeof text);
    sum += (unsigned)ntr_message_format_csv(params, &m, text, sizeof text);
    sum += (unsigned)ntr_message_format(params, &m, text, sizeof text);
    sum += (unsigned)ntr_message_assemble(params, text, again, sizeof again, &column);
    text[next_byte() % 40] = (char)next_byte();
    sum += (unsigned)ntr_message_assemble(params, text, again, sizeof again, &column);
}

static void instruction(void) {
    uint8_t bytes[4];
    ntr_insn insn;
    for (unsigned i = 0; i < 4; i++) bytes[i] = (uint8_t)next_byte();
    sum += (unsigned)ntr_insn_decode(bytes, 1 + next_byte() % 4, 0x1000, next_byte() % 8, &insn);
    sum += insn.flow + insn.target;
}

static ntr_status take(void *user, const uint8_t *bytes, size_t size) {
    (void)user;
    for (size_t i = 0; i < size; i++) sum = sum * 31 + bytes[i];
    return NTR_OK;
}

/* Blocks with random ends: the next block follows, or is at the target of a jump. */
static void blocks(const ntr_params *params, unsigned kind) {
    static const uint8_t ends[] = {NTR_ITYPE_NONE, NTR_ITYPE_EXCEPTION, NTR_ITYPE_INTERRUPT, NTR_ITYPE_TRAP_RETURN, NTR_ITYPE_NOT_TAKEN, NTR_ITYPE_TAKEN,
                                   NTR_ITYPE_NOT_TAKEN, NTR_ITYPE_TAKEN, NTR_ITYPE_INDIRECT_CALL, NTR_ITYPE_DIRECT_CALL, NTR_ITYPE_INDIRECT_JUMP,
                                   NTR_ITYPE_DIRECT_JUMP, NTR_ITYPE_RETURN, NTR_ITYPE_OTHER_INDIRECT, NTR_ITYPE_OTHER_DIRECT};
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    config.params = *params;
    config.mode = kind & 1 ? NTR_INST_MODE_BTM : NTR_INST_MODE_HTM;
    config.sink = take;
    config.repeated_history = kind & 2;
    config.sync_mode = kind & 4 ? NTR_SYNC_MODE_MESSAGES : NTR_SYNC_MODE_OFF;
    config.ownership = kind & 8 ? NTR_OWNERSHIP_SCONTEXT : NTR_OWNERSHIP_OFF;
    ntr_encoder *encoder;
    ntr_encoder_new(&config, &encoder);
    ntr_ingress block = {.iaddr = 0x1000, .priv = 3};
    for (unsigned i = 0; encoder && i < 600; i++) {
        block.itype = ends[next_byte() % (kind & 16 ? 8 : sizeof ends)];
        block.ilastsize = next_byte() & 1;
        block.iretire = block.ilastsize + 1 + next_byte() % 8;
        if (next_byte() < 4) block.scontext = next_byte() & 3, block.ctype = 2;
        sum += (unsigned)ntr_encoder_push(encoder, &block);
        bool jumps = block.itype != NTR_ITYPE_NONE && block.itype != NTR_ITYPE_NOT_TAKEN;
        block.iaddr = jumps ? 0x1000 + 2u * next_byte() : block.iaddr + 2 * block.iretire;
        block.ctype = 0;
        block.time += next_byte() & 7;
        if (next_byte() < 2) sum += (unsigned)ntr_encoder_request_sync(encoder, next_byte() & 15);
    }
    if (encoder) sum += (unsigned)ntr_encoder_stop(encoder, block.iaddr, 0);
    ntr_encoder_free(encoder);
}

int main(int argc, char **argv) {
    ntr_params params;
    (void)argv;
    ntr_params_init(&params, argc > 1 ? ntr_dialect_find("sifive") : NULL);
    params.src_bits = argc > 1 ? 3 : 0;
    params.timestamps = argc > 1;
    for (int i = 0; i < 500; i++) {
        message(&params);
        instruction();
    }
    for (unsigned kind = 0; kind < 32; kind++) blocks(&params, kind);
    printf("%llu\n", sum);
    return 0;
}
