/* Instructions that a user describes: the class of encodings that no table of src/isa has. */
#ifndef NTR_PROGRAM_RULES_H
#define NTR_PROGRAM_RULES_H

#include <ntrace/isa.h>

#define NTR_RULES_MAX 4096 /* lines of a file */

/* An encoding, and what it does. */
typedef struct ntr_rule {
    uint64_t mask, match; /* of the first 8 bytes */
    ntr_insn insn; /* all but the size and the target of a direct jump */
    bool custom; /* an encoder may send it like an indirect jump when it is taken */
    uint8_t shift, bit_count;
    uint8_t bits[32]; /* of the offset, the most significant first */
} ntr_rule;

/* Finds the next word of a line: [*at, *end). Returns false when there is none. */
bool ntr_rule_word(const char **at, const char *line_end, const char **end);

/* Parses a line. Returns NULL, or what was expected in it; *found is then the word that was found. */
const char *ntr_rule_parse(const char *line, const char *end, ntr_rule *rule, const char **found,
                           const char **found_end);

/* Returns the first of the rules for the instruction with these first 8 bytes (those behind its end are ignored), or
 * NULL. */
const ntr_rule *ntr_rule_find(const ntr_rule *rules, size_t count, uint64_t bits);

/* Stores what the instruction does; insn->size is set already. */
void ntr_rule_apply(const ntr_rule *rule, uint64_t bits, uint64_t pc, unsigned isa, ntr_insn *insn);

#endif
