/* Walks a list of program counters (standard input, one hexadecimal number on each line) through the block cache of
 * an ELF: follow ELF
 *
 * Every program counter must have an instruction, and the next one must be possible for its class: after a linear
 * instruction the next one, after a branch the next one or its target, after a direct or sequential jump its target.
 * Other successors are counted as traps. Prints "instructions N traps N", or the program counter without instruction.
 */
#include "program/blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool next_pc(uint64_t *pc) {
    static char line[64];
    if (!fgets(line, sizeof line, stdin)) return false;
    *pc = strtoull(line, NULL, 16);
    return true;
}

/* Whether control may go from the end of this block to `pc`. */
static bool may_end_at(const ntr_block *block, uint64_t pc) {
    switch (block->flow) {
    case NTR_FLOW_LINEAR: return pc == block->next;
    case NTR_FLOW_BRANCH: return pc == block->next || pc == block->target;
    case NTR_FLOW_DIRECT_JUMP:
    case NTR_FLOW_DIRECT_CALL: return pc == block->target;
    case NTR_FLOW_TRAP: return false;
    default: return !(block->flags & NTR_BLOCK_SEQUENTIAL) || pc == block->target;
    }
}

int main(int argc, char **argv) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (argc != 2 || !program || ntr_program_add_elf(program, argv[1], NULL) != NTR_OK) return 2;
    ntr_blocks *blocks = ntr_blocks_new(program, NULL, 0);
    if (!blocks) return 2;
    uint32_t view = ntr_blocks_view(blocks, NULL);
    uint64_t pc, instructions = 0, traps = 0;
    bool more = next_pc(&pc);
    while (more) {
        ntr_block *block = ntr_blocks_get(blocks, view, pc);
        if (block->halfwords == 0) {
            printf("line %" PRIu64 ": no instruction at 0x%" PRIx64 "\n", instructions + 1, pc);
            return 1;
        }
        unsigned at = 0;
        do {
            instructions++;
            at = ntr_block_after(block, at);
            more = next_pc(&pc);
        } while (more && at < block->halfwords && pc == block->start + 2 * at);
        if (more && (at < block->halfwords || !may_end_at(block, pc))) traps++;
    }
    printf("instructions %" PRIu64 " traps %" PRIu64 "\n", instructions, traps);
    ntr_blocks_free(blocks);
    ntr_program_free(program);
    return 0;
}
