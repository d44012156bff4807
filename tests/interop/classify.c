/* Prints how the library classifies the instructions of a flat file, for insn.py:
 * classify FILE ADDRESS ISA [standard|known] -> one line each, "ADDRESS SIZE CLASS...", or "ADDRESS SIZE standard",
 * "known" or "unknown" */
#include <ntrace/isa.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(uint64_t pc, const ntr_insn *insn) {
    printf("%llx %u ", (unsigned long long)pc, insn->size);
    unsigned long long target = (unsigned long long)insn->target;
    switch (insn->flow) {
    case NTR_FLOW_LINEAR:
        if (insn->sets_constant)
            printf("x%u=%llx\n", insn->rd, target);
        else
            puts("linear");
        break;
    case NTR_FLOW_TRAP:
    case NTR_FLOW_TRAP_RETURN: printf("itype %u\n", insn->itype); break;
    case NTR_FLOW_BRANCH: printf("branch %llx\n", target); break;
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL:
        if (insn->table_jump)
            printf("itype %u table %d\n", insn->itype, insn->immediate);
        else
            printf("itype %u x%u %llx\n", insn->itype, insn->rd, target);
        break;
    default: printf("itype %u x%u x%u %d\n", insn->itype, insn->rd, insn->rs1, insn->immediate); break;
    }
}

static bool is_in(const char *set, const uint8_t *bytes, size_t size, unsigned isa) {
    return strcmp(set, "known") == 0 ? ntr_insn_is_known(bytes, size, isa) : ntr_insn_is_standard(bytes, size, isa);
}

int main(int argc, char **argv) {
    static uint8_t code[4 << 20];
    FILE *file = argc >= 4 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    uint64_t base = strtoull(argv[2], NULL, 0);
    unsigned isa;
    if (ntr_isa_parse(argv[3], &isa) != NTR_OK) return 2;
    ntr_insn insn;
    for (size_t at = 0; at < size; at += insn.size) {
        if (ntr_insn_decode(code + at, size - at, base + at, isa, &insn) != NTR_OK) return 1;
        if (argc == 5)
            printf("%llx %u %s\n", (unsigned long long)(base + at), insn.size,
                   is_in(argv[4], code + at, size - at, isa) ? argv[4] : "unknown");
        else
            print(base + at, &insn);
    }
    return 0;
}
