/* Prints the library's name for each address on standard input (hexadecimal, one on each line):
 * names ELF -> "ADDRESS NAME+OFFSET" or "ADDRESS ?" */
#include <ntrace/program.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    char line[64];
    ntr_symbol symbol;
    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (argc != 2 || !program || ntr_program_add_elf(program, argv[1], NULL) != NTR_OK) return 2;
    while (fgets(line, sizeof line, stdin)) {
        uint64_t address = strtoull(line, NULL, 16);
        if (ntr_program_symbol(program, ntr_place_at(NULL, NTR_POSITION_ANY, address), &symbol) == NTR_OK)
            printf("%llx %s+%llx\n", (unsigned long long)address, symbol.name,
                   (unsigned long long)(address - symbol.address));
        else
            printf("%llx ?\n", (unsigned long long)address);
    }
    ntr_program_free(program);
    return 0;
}
