/* Drives a real library (the messages and instructions of this project) with random bytes, for tests/analysis/mcdc.py. */
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
    printf("%llu\n", sum);
    return 0;
}
