#include "gdb/server.h"

#include <string.h>

/* Numbers in the target description: x0 to x31, pc, f0 to f31, fflags, frm, fcsr. */
enum { X0 = 0, REGISTER_PC = 32, F0 = 33, FFLAGS = 65, REGISTERS_ALL = 68, CONTROL_BITS = 32 };

static const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const f_names[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                      "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                      "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const control_names[] = {"fflags", "frm", "fcsr"};

static unsigned register_count(const ntr_gdb *gdb) {
    return gdb->has_fpu ? REGISTERS_ALL : F0;
}

static unsigned bits_of(const ntr_gdb *gdb, unsigned number) {
    return number < F0 ? gdb->xlen : number < FFLAGS ? gdb->float_bits : CONTROL_BITS;
}

/* A GDB with the OS ABI GNU/Linux reads a7 in front of ECALL, to recognize sigreturn, and gives up when it is not
 * known. */
static bool is_before_call_number(const ntr_gdb *gdb, const ntr_replay_hart *hart, unsigned number) {
    enum { A7 = 17 };
    ntr_insn insn;
    return number == A7 && hart->address_known &&
           ntr_program_insn(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), &insn) ==
               NTR_OK &&
           insn.flow == NTR_FLOW_TRAP;
}

/* In front of a register jump, the register has the target minus the offset: the next instruction of the hart tells. */
static bool jump_register(ntr_gdb *gdb, const ntr_replay_hart *hart, unsigned number, uint64_t *value) {
    ntr_insn insn;
    if (hart->ended || !hart->address_known || number == 0 ||
        ntr_program_insn(gdb->config.program, ntr_place_at(&hart->context, hart->offset, hart->address), &insn) < 0)
        return false;
    const bool jumps = insn.flow == NTR_FLOW_INDIRECT_JUMP || insn.flow == NTR_FLOW_INDIRECT_CALL ||
                       insn.flow == NTR_FLOW_RETURN || insn.flow == NTR_FLOW_CO_SWAP;
    uint64_t target;
    if (!jumps || insn.rs1 != number || ntr_replay_successor(gdb->replay, gdb->general, &target) != NTR_OK)
        return false;
    *value = target - (uint64_t)(int64_t)insn.immediate;
    return true;
}

/* Stores the value of a register that the invented stack determines. */
static bool of_stack(ntr_gdb *gdb, unsigned number, uint64_t *value) {
    if (number != NTR_REG_SP && number != NTR_REG_RA && number != NTR_REG_T0 && number != NTR_REG_FP) return false;
    const ntr_invented_stack *stack = ntr_gdb_stack(gdb);
    if (!stack) return false;
    switch (number) {
    case NTR_REG_SP: *value = stack->sp; return true;
    case NTR_REG_RA: *value = stack->has_ra ? stack->ra : 0; return stack->has_ra;
    case NTR_REG_T0: *value = stack->has_t0 ? stack->t0 : 0; return stack->has_t0;
    default: *value = stack->has_fp ? stack->fp : 0; return stack->has_fp;
    }
}

static bool value_of(ntr_gdb *gdb, unsigned number, uint64_t *value) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (!hart) return false;
    *value = number == REGISTER_PC ? hart->address : 0;
    if (number == X0) return true;
    if (number == REGISTER_PC) return hart->address_known;
    bool known = of_stack(gdb, number, value);
    return known || is_before_call_number(gdb, hart, number) ||
           (number < REGISTER_PC && jump_register(gdb, hart, number, value));
}

bool ntr_gdb_add_register(ntr_gdb *gdb, unsigned number, ntr_gdb_text *text) {
    uint64_t value;
    if (number >= register_count(gdb)) return false;
    if (number < F0 && value_of(gdb, number, &value))
        ntr_gdb_text_value(text, value, gdb->xlen);
    else
        ntr_gdb_text_unknown(text, bits_of(gdb, number));
    return true;
}

void ntr_gdb_read_registers(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    for (unsigned i = 0; ntr_gdb_add_register(gdb, i, &gdb->answer); i++) {
    }
}

/* `x` digits are for GDB. LLDB takes them for a value: it gets an error, and shows "<unavailable>". */
void ntr_gdb_read_register(ntr_gdb *gdb, const char *packet) {
    uint64_t number;
    const char *at = packet + 1;
    bool good = ntr_gdb_number(&at, &number) && !*at && number < REGISTERS_ALL &&
                ntr_gdb_add_register(gdb, (unsigned)number, &gdb->answer);
    if (good && gdb->lldb && gdb->answer.size && gdb->answer.bytes[0] == 'x') {
        ntr_gdb_text_clear(&gdb->answer);
        good = false;
    }
    if (!good) ntr_gdb_text_print(&gdb->answer, "E01");
}

/* ---- the description */

/* LLDB knows neither the numbers of DWARF nor which registers are special; GDB has both built in. PC has no number in
 * the psABI specification: this one is LLVM's. */
static void add_lldb(const ntr_gdb *gdb, ntr_gdb_text *text, unsigned number) {
    enum { LLVM_PC = 11451, DWARF_F0 = 32 };
    static const char *const generic[] = {[NTR_REG_RA] = "ra", [NTR_REG_SP] = "sp", [NTR_REG_FP] = "fp"};
    if (!gdb->lldb) return;
    const unsigned dwarf = number < REGISTER_PC ? number : number == REGISTER_PC ? LLVM_PC : number - F0 + DWARF_F0;
    ntr_gdb_text_print(text, " regnum=\"%u\" dwarf_regnum=\"%u\" ehframe_regnum=\"%u\"", number, dwarf, dwarf);
    if (number == REGISTER_PC) ntr_gdb_text_print(text, " generic=\"pc\"");
    if (number < sizeof generic / sizeof *generic && generic[number])
        ntr_gdb_text_print(text, " generic=\"%s\"", generic[number]);
    if (number >= 10 && number < 18) ntr_gdb_text_print(text, " generic=\"arg%u\"", number - 9);
}

static void add_description(const ntr_gdb *gdb, ntr_gdb_text *text, unsigned number, const char *name,
                            const char *type) {
    ntr_gdb_text_print(text, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"", name, bits_of(gdb, number), type);
    if (number < FFLAGS) add_lldb(gdb, text, number);
    ntr_gdb_text_print(text, "/>\n");
}

static void describe_integers(const ntr_gdb *gdb, ntr_gdb_text *text) {
    ntr_gdb_text_print(text, "<feature name=\"org.gnu.gdb.riscv.cpu\">\n");
    for (unsigned i = 0; i < REGISTER_PC; i++) {
        const char *type = i == 1 ? "code_ptr" : i == 2 || i == 3 || i == 4 || i == 8 ? "data_ptr" : "int";
        add_description(gdb, text, i, x_names[i], type);
    }
    add_description(gdb, text, REGISTER_PC, "pc", "code_ptr");
    ntr_gdb_text_print(text, "</feature>\n");
}

static void describe_floats(const ntr_gdb *gdb, ntr_gdb_text *text) {
    const char *type = gdb->float_bits == 64 ? "ieee_double" : "ieee_single";
    ntr_gdb_text_print(text, "<feature name=\"org.gnu.gdb.riscv.fpu\">\n");
    for (unsigned i = 0; i < 32; i++) add_description(gdb, text, F0 + i, f_names[i], type);
    for (unsigned i = 0; i < 3; i++) add_description(gdb, text, FFLAGS + i, control_names[i], "int");
    ntr_gdb_text_print(text, "</feature>\n");
}

void ntr_gdb_target_description(ntr_gdb *gdb, ntr_gdb_text *text) {
    ntr_gdb_text_print(text,
                       "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                       "<target version=\"1.0\">\n<architecture>riscv:rv%u</architecture>\n",
                       gdb->xlen);
    describe_integers(gdb, text);
    if (gdb->has_fpu) describe_floats(gdb, text);
    ntr_gdb_text_print(text, "</target>\n");
}
