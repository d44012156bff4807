/* QEMU plugin for tests: counts and hashes the program counter of every instruction that retires, for each virtual CPU.
 *
 * It shares nothing with the capture plugin but the declarations of QEMU's interface: QEMU calls it before each single
 * instruction. Whether that instruction retired is known when the next one of the same CPU comes:
 *
 *   - ECALL, EBREAK, UNIMP and words of ones (with which a Java VM makes code invalid) never retire; jumps and branches always do;
 *   - the next address follows: it retired;
 *   - the same address again: QEMU executes the instruction once more (atomics alone, stores to code), it had not retired;
 *   - any other address is a signal handler. Signals from outside come between QEMU's blocks: an instruction inside of a
 *     block was stopped by its own fault. The last one of a block, if it accesses memory, retired if the access was seen.
 *
 * At the end it writes a line for each CPU: `CPU COUNT HASH OPEN PC...`. PC... are the last program counters, in
 * hexadecimal; COUNT and HASH are of those before them. OPEN is 1 if the thread was executing when the program ended:
 * then the last instruction is not among them. Argument: out=FILE. */
#include "plugins/qemu/api.h"
#include "tests/real/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);

int qemu_plugin_version = NTRACE_QEMU_API_VERSION;

enum { CPUS = 4096, TAIL = 1024 };

typedef enum kind { LINEAR, ACCESS, JUMP, NEVER } kind;

struct instruction {
    uint64_t pc;
    uint8_t size, kind;
    bool last; /* of its block */
};

static struct cpu {
    const struct instruction *pending;
    bool accessed; /* `pending` has accessed memory */
    uint64_t hash, count, stored, tail[TAIL];
} *cpus[CPUS];

static const char *out;
static pid_t process;

static struct cpu *cpu_of(unsigned index) {
    if (index >= CPUS) abort();
    if (!cpus[index] && !(cpus[index] = calloc(1, sizeof *cpus[index]))) abort();
    return cpus[index];
}

static void retire(struct cpu *c, uint64_t pc) {
    uint64_t *slot = &c->tail[c->stored++ % TAIL];
    if (c->stored > TAIL) {
        c->hash = pc_hash(c->hash, *slot);
        c->count++;
    }
    *slot = pc;
}

static bool retired(const struct cpu *c, const struct instruction *i, uint64_t next) {
    if (i->kind == NEVER) return false;
    if (i->kind == JUMP || next == i->pc + i->size) return true;
    if (next == i->pc || !i->last) return false;
    return i->kind != ACCESS || c->accessed;
}

static void on_instruction(unsigned index, void *user) {
    const struct instruction *now = user;
    struct cpu *c = cpu_of(index);
    if (c->pending && retired(c, c->pending, now->pc)) retire(c, c->pending->pc);
    c->pending = now;
    c->accessed = false;
}

static void on_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *user) {
    (void)info, (void)address, (void)user;
    cpu_of(index)->accessed = true;
}

/* ---- instructions */

static kind kind_of_short(uint32_t bits) {
    const unsigned quadrant = bits & 3, funct3 = bits >> 13 & 7;
    if (quadrant == 0) return bits == 0 ? NEVER : funct3 == 0 ? LINEAR : ACCESS;
    if (quadrant == 1) return funct3 >= 5 ? JUMP : LINEAR; /* c.j, c.beqz, c.bnez (RV64) */
    if (funct3 == 4) return bits == 0x9002 ? NEVER : (bits & 0x7c) == 0 && (bits & 0xf80) ? JUMP : LINEAR;
    return funct3 == 0 ? LINEAR : ACCESS;
}

static kind kind_of(uint32_t bits) {
    if ((bits & 3) != 3) return kind_of_short(bits & 0xffff);
    switch (bits & 0x7f) {
    case 0x63: case 0x67: case 0x6f: return JUMP;
    case 0x7f: return NEVER; /* the encodings of instructions of 80 bits and more: there are none */
    case 0x03: case 0x07: case 0x23: case 0x27: return ACCESS;
    case 0x73: return (bits & ~0x100000u) == 0x73 || bits == 0xc0001073 ? NEVER : LINEAR; /* the last: unimp */
    default: return LINEAR;
    }
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    const size_t count = qemu_plugin_tb_n_insns(block);
    uint64_t pc = qemu_plugin_tb_vaddr(block);
    struct instruction *all = malloc(count * sizeof *all); /* kept: callbacks refer to it */
    (void)id;
    if (!all) abort();
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(block, i);
        const size_t size = qemu_plugin_insn_size(one);
        uint32_t bits = 0;
        memcpy(&bits, qemu_plugin_insn_data(one), size < 4 ? size : 4);
        all[i] = (struct instruction){pc, (uint8_t)size, (uint8_t)kind_of(bits), i + 1 == count};
        qemu_plugin_register_vcpu_insn_exec_cb(one, on_instruction, QEMU_PLUGIN_CB_NO_REGS, &all[i]);
        if (all[i].last && all[i].kind == ACCESS)
            qemu_plugin_register_vcpu_mem_cb(one, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
        pc += size;
    }
}

/* ---- result */

static void write_cpu(FILE *file, unsigned index, const struct cpu *c) {
    const uint64_t kept = c->stored < TAIL ? c->stored : TAIL;
    const bool open = c->pending && c->pending->kind != NEVER;
    fprintf(file, "%u %" PRIu64 " %" PRIx64 " %d", index, c->count, c->hash, open);
    for (uint64_t i = c->stored - kept; i < c->stored; i++) fprintf(file, " %" PRIx64, c->tail[i % TAIL]);
    fputc('\n', file);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *user) {
    FILE *file = getpid() == process ? fopen(out, "w") : NULL; /* not in a child that was forked */
    (void)id, (void)user;
    if (!file) return;
    for (unsigned i = 0; i < CPUS; i++)
        if (cpus[i]) write_cpu(file, i, cpus[i]);
    fputs("end\n", file);
    fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || !(out = strdup(argv[0] + 4))) return -1;
    process = getpid();
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
