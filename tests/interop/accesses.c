/* Prints how the capture plugin classifies the instructions of a flat file, for accesses.py:
 * accesses FILE rv32|rv64 -> one line each: h l s a (harmless, load, store, sure access) or -; the set of registers
 * that may be written; of a sure access, its size and address; a branch's offset */
#include "riscv.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void print(uint32_t instruction, unsigned xlen) {
    struct riscv_access access;
    int64_t offset;
    putchar(riscv_is_harmless(instruction) ? 'h' : '-');
    putchar(riscv_is_load(instruction) ? 'l' : '-');
    putchar(riscv_is_store(instruction) ? 's' : '-');
    putchar(riscv_is_sure_access(instruction, xlen) ? 'a' : '-');
    printf(" w%x", (unsigned)riscv_may_write(instruction));
    if (riscv_decode_access(instruction, xlen, &access))
        printf(" %c%u:%d(x%u)", access.store ? 's' : 'l', access.size, (int)access.offset, access.base);
    if (riscv_is_branch(instruction, &offset)) printf(" %lld", (long long)offset);
    putchar('\n');
}

int main(int argc, char **argv) {
    uint8_t code[4] = {0};
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    while (fread(code, 2, 1, file) == 1) {
        uint32_t instruction = (uint32_t)(code[0] | code[1] << 8);
        if (!riscv_is_short(instruction)) {
            if (fread(code + 2, 2, 1, file) != 1) return 1;
            instruction |= (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
        }
        print(instruction, strcmp(argv[2], "rv32") == 0 ? 32 : 64);
    }
    fclose(file);
    return 0;
}
