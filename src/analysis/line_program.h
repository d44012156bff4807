/* Line number programs of .debug_line, DWARF 2 to 5 (DWARF 5, 6.2).
 *
 * libdw sorts the rows of all sequences of a unit by address and so loses which row ends where. A linker leaves the
 * sequences of sections that it has discarded, mostly at address 0; only with their sequences can rows be told apart.
 */
#ifndef NTR_ANALYSIS_LINE_PROGRAM_H
#define NTR_ANALYSIS_LINE_PROGRAM_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row: [address, end) belongs to the line. Rows without code (address == end) are given too. */
typedef struct ntr_program_row {
    uint64_t address, end;
    uint64_t sequence; /* address of the first row of its sequence */
    uint64_t file;     /* as numbered by the program's header */
    uint32_t line, column, discriminator;
    bool is_statement;
} ntr_program_row;

/* Calls `visit` for each row of the program at `offset` of the section, in the order of the program, up to damage. A
 * result of `visit` other than NTR_OK stops the iteration and is returned. Stores whether the program is damaged. */
ntr_status ntr_line_program_read(ntr_bytes section, uint64_t offset,
                                 ntr_status (*visit)(void *user, const ntr_program_row *row), void *user,
                                 bool *damaged);

/* Stores for each of the first `count` files of the program at `offset` where its MD5 is in the section (16 bytes);
 * NULL: the header has none (before DWARF 5, or the compiler wrote none), or it is damaged. */
void ntr_line_program_digests(ntr_bytes section, uint64_t offset, const uint8_t **digests, size_t count);

#endif
