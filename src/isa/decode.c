#include "isa/decode_16.h"
#include "isa/decode_32.h"

/* Base instruction-length encoding. */
unsigned ntr_insn_length(uint16_t first) {
    if ((first & 0x03) != 0x03) return 2;
    if ((first & 0x1c) != 0x1c) return 4;
    if ((first & 0x20) == 0) return 6;
    if ((first & 0x40) == 0) return 8;
    unsigned extra = first >> 12 & 7;
    return extra == 7 ? 2 : 10 + 2 * extra;
}

static uint32_t little_endian(const uint8_t *bytes, size_t size) {
    uint32_t word = 0;
    for (size_t i = 0; i < size; i++) word |= (uint32_t)bytes[i] << (8 * i);
    return word;
}

ntr_status ntr_insn_decode(const uint8_t *bytes, size_t size, uint64_t pc, unsigned isa, ntr_insn *insn) {
    *insn = (ntr_insn){.size = 2};
    if (size < 2) return NTR_E_SPACE;
    insn->size = (uint8_t)ntr_insn_length((uint16_t)little_endian(bytes, 2));
    if (insn->size > size) return NTR_E_SPACE;
    if (insn->size == 2) ntr_decode_16(little_endian(bytes, 2), pc, isa, insn);
    if (insn->size == 4) ntr_decode_32(little_endian(bytes, 4), pc, isa, insn);
    return NTR_OK;
}
