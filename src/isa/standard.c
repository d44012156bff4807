/* Which encodings the ratified extensions define, but for Zibi, whose branches were reserved encodings before. All
 * others may be instructions of a vendor, of which the class is not known.
 *
 * Where an extension defines nearly all of a group (loads and stores of registers of floating-point numbers and
 * vectors, arithmetic of these), the whole group is defined. */
#include "base/bytes.h"
#include "isa/plain.h"

#include <ntrace/isa.h>

/* The bases for which a row holds. */
enum { ANY, ONLY_32, ONLY_64 };

typedef struct encoding {
    uint32_t mask, match;
    uint8_t base;
} encoding;

#define F3(funct3)             ((uint32_t)(funct3) << 12)
#define F7(funct7)             ((uint32_t)(funct7) << 25)
#define F12(funct12)           ((uint32_t)(funct12) << 20)
#define OPCODE(code)           {0x7f, code, ANY}
#define F3_ROW(code, funct3)   {0x707f, F3(funct3) | (code), ANY}
#define F7_ROW(code, f7, f3)   {0xfe00707f, F7(f7) | F3(f3) | (code), ANY}
#define F12_ROW(code, f12, f3) {0xfff0707f, F12(f12) | F3(f3) | (code), ANY}
/* Of bytes, halfwords and words, and of doublewords. */
#define AMO(f5)                                                                                                        \
    {0xf800607f, (uint32_t)(f5) << 27 | 0x2f, ANY}, {0xf800707f, (uint32_t)(f5) << 27 | F3(2) | 0x2f, ANY}, {          \
        0xf800707f, (uint32_t)(f5) << 27 | F3(3) | 0x2f, ONLY_64                                                       \
    }
#define AMO_WORD(mask, f5)                                                                                             \
    {mask, (uint32_t)(f5) << 27 | F3(2) | 0x2f, ANY}, {                                                                \
        mask, (uint32_t)(f5) << 27 | F3(3) | 0x2f, ONLY_64                                                             \
    }
#define WHOLE_WORD(word) {0xffffffff, word, ANY}

/* By opcode, so that few rows are compared. */
static const encoding defined[] = {
    /* LOAD, LOAD-FP */
    F3_ROW(0x03, 0),
    F3_ROW(0x03, 1),
    F3_ROW(0x03, 2),
    F3_ROW(0x03, 3),
    F3_ROW(0x03, 4),
    F3_ROW(0x03, 5),
    {0x707f, F3(6) | 0x03, ONLY_64},
    OPCODE(0x07),
    /* MISC-MEM: FENCE, FENCE.I, CBO.INVAL, CLEAN, FLUSH, ZERO */
    F3_ROW(0x0f, 0),
    F3_ROW(0x0f, 1),
    {0xfff07fff, F12(0) | F3(2) | 0x0f, ANY},
    {0xfff07fff, F12(1) | F3(2) | 0x0f, ANY},
    {0xfff07fff, F12(2) | F3(2) | 0x0f, ANY},
    {0xfff07fff, F12(4) | F3(2) | 0x0f, ANY},
    /* OP-IMM */
    F3_ROW(0x13, 0),
    F3_ROW(0x13, 2),
    F3_ROW(0x13, 3),
    F3_ROW(0x13, 4),
    F3_ROW(0x13, 6),
    F3_ROW(0x13, 7),
    F7_ROW(0x13, 0x00, 1),
    F7_ROW(0x13, 0x24, 1),
    F7_ROW(0x13, 0x14, 1),
    F7_ROW(0x13, 0x34, 1),
    {0xfe00707f, F7(0x01) | F3(1) | 0x13, ONLY_64},
    {0xfe00707f, F7(0x25) | F3(1) | 0x13, ONLY_64},
    {0xfe00707f, F7(0x15) | F3(1) | 0x13, ONLY_64},
    {0xfe00707f, F7(0x35) | F3(1) | 0x13, ONLY_64},
    F12_ROW(0x13, 0x600, 1),
    F12_ROW(0x13, 0x601, 1),
    F12_ROW(0x13, 0x602, 1),
    F12_ROW(0x13, 0x604, 1),
    F12_ROW(0x13, 0x605, 1),
    F12_ROW(0x13, 0x100, 1),
    F12_ROW(0x13, 0x101, 1),
    F12_ROW(0x13, 0x102, 1),
    F12_ROW(0x13, 0x103, 1), /* SHA256 */
    F12_ROW(0x13, 0x108, 1),
    F12_ROW(0x13, 0x109, 1), /* SM3 */
    {0xfff0707f, F12(0x104) | F3(1) | 0x13, ONLY_64},
    {0xfff0707f, F12(0x105) | F3(1) | 0x13, ONLY_64}, /* SHA512 */
    {0xfff0707f, F12(0x106) | F3(1) | 0x13, ONLY_64},
    {0xfff0707f, F12(0x107) | F3(1) | 0x13, ONLY_64},
    {0xfff0707f, F12(0x300) | F3(1) | 0x13, ONLY_64}, /* AES64IM */
    {0xff00707f, F12(0x310) | F3(1) | 0x13, ONLY_64}, /* AES64KS1I, rnum to 10: see below */
    {0xfff0707f, F12(0x08f) | F3(1) | 0x13, ONLY_32},
    {0xfff0707f, F12(0x08f) | F3(5) | 0x13, ONLY_32}, /* ZIP, UNZIP */
    F7_ROW(0x13, 0x00, 5),
    F7_ROW(0x13, 0x20, 5),
    F7_ROW(0x13, 0x24, 5),
    F7_ROW(0x13, 0x30, 5),
    {0xfe00707f, F7(0x01) | F3(5) | 0x13, ONLY_64},
    {0xfe00707f, F7(0x21) | F3(5) | 0x13, ONLY_64},
    {0xfe00707f, F7(0x25) | F3(5) | 0x13, ONLY_64},
    {0xfe00707f, F7(0x31) | F3(5) | 0x13, ONLY_64},
    F12_ROW(0x13, 0x287, 5),
    F12_ROW(0x13, 0x687, 5),
    {0xfff0707f, F12(0x698) | F3(5) | 0x13, ONLY_32},
    {0xfff0707f, F12(0x6b8) | F3(5) | 0x13, ONLY_64},
    /* AUIPC; OP-IMM-32 */
    OPCODE(0x17),
    {0x707f, F3(0) | 0x1b, ONLY_64},
    {0xfe00707f, F7(0x00) | F3(1) | 0x1b, ONLY_64},
    {0xfc00707f, F7(0x04) | F3(1) | 0x1b, ONLY_64},
    {0xfff0707f, F12(0x600) | F3(1) | 0x1b, ONLY_64},
    {0xfff0707f, F12(0x601) | F3(1) | 0x1b, ONLY_64},
    {0xfff0707f, F12(0x602) | F3(1) | 0x1b, ONLY_64},
    {0xfe00707f, F7(0x00) | F3(5) | 0x1b, ONLY_64},
    {0xfe00707f, F7(0x20) | F3(5) | 0x1b, ONLY_64},
    {0xfe00707f, F7(0x30) | F3(5) | 0x1b, ONLY_64},
    /* STORE, STORE-FP */
    F3_ROW(0x23, 0),
    F3_ROW(0x23, 1),
    F3_ROW(0x23, 2),
    F3_ROW(0x23, 3),
    OPCODE(0x27),
    /* AMO: LR has no rs2. Zacas, Zabha, Zalasr, SSAMOSWAP */
    AMO(0x00),
    AMO(0x01),
    AMO(0x04),
    AMO(0x08),
    AMO(0x0c),
    AMO(0x10),
    AMO(0x14),
    AMO(0x18),
    AMO(0x1c),
    AMO(0x06),
    AMO(0x07),
    AMO_WORD(0xf9f0707f, 0x02),
    AMO_WORD(0xf800707f, 0x03),
    AMO_WORD(0xf800707f, 0x09),
    {0xf800407f, 0x05u << 27 | 0x2f, ANY},
    {0xf800707f, 0x05u << 27 | F3(4) | 0x2f, ONLY_64},
    /* OP: I, M, Zba, Zbb, Zbc, Zbs, Zbk, Zicond, Zkn, Zks */
    {0xfe00007f, F7(0x00) | 0x33, ANY},
    {0xfe00007f, F7(0x01) | 0x33, ANY},
    F7_ROW(0x33, 0x20, 0),
    F7_ROW(0x33, 0x20, 4),
    F7_ROW(0x33, 0x20, 5),
    F7_ROW(0x33, 0x20, 6),
    F7_ROW(0x33, 0x20, 7),
    F7_ROW(0x33, 0x05, 1),
    F7_ROW(0x33, 0x05, 2),
    F7_ROW(0x33, 0x05, 3),
    F7_ROW(0x33, 0x05, 4),
    F7_ROW(0x33, 0x05, 5),
    F7_ROW(0x33, 0x05, 6),
    F7_ROW(0x33, 0x05, 7),
    F7_ROW(0x33, 0x07, 5),
    F7_ROW(0x33, 0x07, 7),
    F7_ROW(0x33, 0x04, 4),
    F7_ROW(0x33, 0x04, 7),
    F7_ROW(0x33, 0x10, 2),
    F7_ROW(0x33, 0x10, 4),
    F7_ROW(0x33, 0x10, 6),
    F7_ROW(0x33, 0x14, 1),
    F7_ROW(0x33, 0x14, 2),
    F7_ROW(0x33, 0x14, 4),
    F7_ROW(0x33, 0x24, 1),
    F7_ROW(0x33, 0x24, 5),
    F7_ROW(0x33, 0x34, 1),
    F7_ROW(0x33, 0x30, 1),
    F7_ROW(0x33, 0x30, 5),
    {0x3e00707f, F7(0x18) | 0x33, ANY},
    {0x3e00707f, F7(0x1a) | 0x33, ANY}, /* SM4ED, SM4KS */
    {0x3e00707f, F7(0x11) | 0x33, ONLY_32},
    {0x3e00707f, F7(0x13) | 0x33, ONLY_32}, /* AES32 */
    {0x3e00707f, F7(0x15) | 0x33, ONLY_32},
    {0x3e00707f, F7(0x17) | 0x33, ONLY_32},
    {0xfe00707f, F7(0x19) | 0x33, ONLY_64},
    {0xfe00707f, F7(0x1b) | 0x33, ONLY_64}, /* AES64 */
    {0xfe00707f, F7(0x1d) | 0x33, ONLY_64},
    {0xfe00707f, F7(0x1f) | 0x33, ONLY_64},
    {0xfe00707f, F7(0x3f) | 0x33, ONLY_64},
    {0xfe00707f, F7(0x28) | 0x33, ONLY_32},
    {0xfe00707f, F7(0x29) | 0x33, ONLY_32}, /* SHA512 */
    {0xfe00707f, F7(0x2a) | 0x33, ONLY_32},
    {0xfe00707f, F7(0x2b) | 0x33, ONLY_32},
    {0xfe00707f, F7(0x2e) | 0x33, ONLY_32},
    {0xfe00707f, F7(0x2f) | 0x33, ONLY_32},
    /* LUI; OP-32 */
    OPCODE(0x37),
    {0xfe00707f, F7(0x00) | F3(0) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x00) | F3(1) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x00) | F3(5) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x20) | F3(0) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x20) | F3(5) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x01) | F3(0) | 0x3b, ONLY_64},
    {0xfe00407f, F7(0x01) | F3(4) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x04) | F3(0) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x04) | F3(4) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x10) | F3(2) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x10) | F3(4) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x10) | F3(6) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x30) | F3(1) | 0x3b, ONLY_64},
    {0xfe00707f, F7(0x30) | F3(5) | 0x3b, ONLY_64},
    /* MADD, MSUB, NMSUB, NMADD, OP-FP, OP-V, OP-VE */
    OPCODE(0x43),
    OPCODE(0x47),
    OPCODE(0x4b),
    OPCODE(0x4f),
    OPCODE(0x53),
    OPCODE(0x57),
    F3_ROW(0x77, 2),
    /* MAYBE_ZIBI, JALR, JAL */
    F3_ROW(0x63, 0),
    F3_ROW(0x63, 1),
    F3_ROW(0x63, 4),
    F3_ROW(0x63, 5),
    F3_ROW(0x63, 6),
    F3_ROW(0x63, 7),
    F3_ROW(0x67, 0),
    OPCODE(0x6f),
    /* SYSTEM: Zicsr; HLV, HSV, MOP; privileged instructions */
    F3_ROW(0x73, 1),
    F3_ROW(0x73, 2),
    F3_ROW(0x73, 3),
    F3_ROW(0x73, 5),
    F3_ROW(0x73, 6),
    F3_ROW(0x73, 7),
    {0xffe0707f, F7(0x30) | F3(4) | 0x73, ANY},
    {0xffe0707f, F7(0x32) | F3(4) | 0x73, ANY},
    F12_ROW(0x73, 0x643, 4),
    F12_ROW(0x73, 0x680, 4),
    {0xfff0707f, F12(0x681) | F3(4) | 0x73, ONLY_64},
    F12_ROW(0x73, 0x683, 4),
    {0xfff0707f, F12(0x6c0) | F3(4) | 0x73, ONLY_64},
    {0xfe007fff, F7(0x31) | F3(4) | 0x73, ANY},
    {0xfe007fff, F7(0x33) | F3(4) | 0x73, ANY},
    {0xfe007fff, F7(0x35) | F3(4) | 0x73, ANY},
    {0xfe007fff, F7(0x37) | F3(4) | 0x73, ONLY_64},
    {0xb3c0707f, 0x81c00000 | F3(4) | 0x73, ANY},
    {0xb200707f, 0x82000000 | F3(4) | 0x73, ANY},
    WHOLE_WORD(0x00000073),
    WHOLE_WORD(0x00100073),
    WHOLE_WORD(0x00200073),
    WHOLE_WORD(0x10200073),
    WHOLE_WORD(0x30200073),
    WHOLE_WORD(0x70200073),
    WHOLE_WORD(0x7b200073),
    WHOLE_WORD(0x10500073),
    WHOLE_WORD(0x00d00073),
    WHOLE_WORD(0x01d00073),
    WHOLE_WORD(0x18000073),
    WHOLE_WORD(0x18100073),
    WHOLE_WORD(0x10400073),
    {0xfe007fff, F7(0x09) | 0x73, ANY},
    {0xfe007fff, F7(0x0b) | 0x73, ANY},
    {0xfe007fff, F7(0x11) | 0x73, ANY},
    {0xfe007fff, F7(0x13) | 0x73, ANY},
    {0xfe007fff, F7(0x31) | 0x73, ANY},
    {0xfe007fff, F7(0x33) | 0x73, ANY},
};

static bool is_defined_32(uint32_t word, bool rv32) {
    for (size_t i = 0; i < sizeof defined / sizeof defined[0]; i++)
        if ((word & defined[i].mask) == defined[i].match && defined[i].base != (rv32 ? ONLY_64 : ONLY_32)) return true;
    return false;
}

/* C.SUBW, C.ADDW; Zcb. `word` is of quadrant 1, funct3 4, with bits 12:10 of 7. */
static bool is_defined_alu(unsigned word, bool rv32) {
    const unsigned kind = word >> 5 & 3, unary = word >> 2 & 7;
    if (kind < 2) return !rv32;
    return kind == 2 || unary < 4 || unary == 5 || (unary == 4 && !rv32); /* C.ZEXT.W is 4 */
}

/* C.LUI, C.ADDI16SP; Zcmop. Quadrant 1, funct3 3. */
static bool is_defined_lui(unsigned word) {
    const unsigned rd = word >> 7 & 31;
    return (word & 0x107c) != 0 || (rd < 16 && rd % 2 == 1);
}

/* Zcmp and Zcmt replace C.FSDSP. */
static bool is_defined_zcm(unsigned word, unsigned isa) {
    const unsigned kind = word >> 8 & 31;
    if (!(isa & (NTR_ISA_ZCMP | NTR_ISA_ZCMT))) return true;
    if (isa & NTR_ISA_ZCMT && kind < 4) return true;
    if (!(isa & NTR_ISA_ZCMP)) return false;
    if ((kind & ~3u) == 0x0c)
        return (word >> 5 & 3) == 3 || ((word >> 5 & 3) == 1 && (word >> 7 & 7) != (word >> 2 & 7));
    return (kind & 0x19) == 0x18 && (word >> 4 & 15) >= 4;
}

static bool is_defined_16(unsigned word, unsigned isa) {
    const bool rv32 = isa & NTR_ISA_RV32;
    const unsigned rd = word >> 7 & 31;
    switch ((word & 3) << 3 | word >> 13) {
    case 000: return word == 0 || (word & 0x1fe0) != 0; /* C.ADDI4SPN; 0 is defined as illegal */
    case 004: return (word >> 10 & 7) < 3 || ((word >> 10 & 7) == 3 && !(word & 0x40));
    case 011: return rv32 || rd != 0; /* C.JAL, C.ADDIW */
    case 013: return is_defined_lui(word);
    case 014:
        if ((word >> 10 & 3) == 3) return !(word & 0x1000) || is_defined_alu(word, rv32);
        return !rv32 || !(word & 0x1000) || (word >> 10 & 3) == 2; /* C.SRLI, C.SRAI */
    case 020: return !rv32 || !(word & 0x1000); /* C.SLLI */
    case 022: return rd != 0;
    case 023: return rv32 || rd != 0; /* C.FLWSP, C.LDSP */
    case 024: return (word & 0x107c) != 0 || rd != 0; /* C.JR */
    case 025: return is_defined_zcm(word, isa);
    default: return true;
    }
}

bool ntr_insn_is_standard(const uint8_t *bytes, size_t size, unsigned isa) {
    if (size < 2) return false;
    const uint16_t first = ntr_little_16(bytes);
    const unsigned length = ntr_insn_length(first);
    if (length == 2) return (first & 3) != 3 && (ntr_insn_is_plain(first) || is_defined_16(first, isa));
    if (length != 4 || size < 4) return false;
    const uint32_t word = ntr_little_32(bytes);
    return ntr_insn_is_plain(word) || is_defined_32(word, isa & NTR_ISA_RV32);
}

/* Compressed instructions of Qualcomm that are reserved elsewhere: Xqccmp (QC.CM.PUSHFP, QC.CM.MVSA01 of one register),
 * and of RV32 Xqci. None of them jumps, but for those of ntr_insn_decode. */
static bool is_of_qualcomm(unsigned word, unsigned isa) {
    if (isa & NTR_ISA_ZCMP && ((word & 0xff03) == 0xb902 || (word & 0xfc63) == 0xac22)) return true;
    if (!(isa & NTR_ISA_XQCIINT) || !(isa & NTR_ISA_RV32)) return false;
    return (word & 0xf003) == 0x1002 || (word & 0xf803) == 0x9001 || (word & 0xfc63) == 0xac02;
}

/* Instructions of vendors in `isa`: compressed ones, those of 32 bits in custom-0 .. custom-3, and of 48 bits. */
static bool is_of_vendor(uint32_t word, unsigned length, unsigned isa) {
    static const unsigned customs[32] = {[0x0b >> 2] = NTR_ISA_CUSTOM_0,
                                         [0x2b >> 2] = NTR_ISA_CUSTOM_1 | NTR_ISA_XCVHWLP | NTR_ISA_XESPLOOP,
                                         [0x5b >> 2] = NTR_ISA_CUSTOM_2,
                                         [0x7b >> 2] = NTR_ISA_CUSTOM_3};
    enum { MAYBE_ZIBI = 0x63 }; /* BEQI, BNEI: a core without Zibi may have another instruction there */
    ntr_insn insn;
    const uint8_t bytes[6] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    if (length > 6 || (word & 0x7f) == MAYBE_ZIBI || ntr_insn_decode(bytes, length, 0, isa, &insn) != NTR_OK)
        return false;
    if (insn.flow != NTR_FLOW_LINEAR || insn.loop || insn.table_jump) return true;
    if (length == 2) return is_of_qualcomm(word & 0xffff, isa);
    if (length == 4) return (customs[word >> 2 & 31] & isa) != 0;
    return length == 6 && (word & 0x7f) == 0x1f && isa & (NTR_ISA_XQCIBI | NTR_ISA_XQCILB);
}

bool ntr_insn_is_known(const uint8_t *bytes, size_t size, unsigned isa) {
    if (ntr_insn_is_standard(bytes, size, isa)) return true;
    if (size < 2) return false;
    const uint16_t first = ntr_little_16(bytes);
    const unsigned length = ntr_insn_length(first);
    if (length > 2 && size < 4) return false;
    return is_of_vendor(length > 2 ? ntr_little_32(bytes) : first, length, isa);
}
