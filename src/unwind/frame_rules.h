/* Frame rules of all code of a program, looked up by address. */
#ifndef NTR_UNWIND_FRAME_RULES_H
#define NTR_UNWIND_FRAME_RULES_H

#include "unwind/frame_rule.h"

typedef struct ntr_frame_rules ntr_frame_rules;

/* Returns an object, or NULL when out of memory. `debug` may be NULL; both must outlive it. `debug_path`: as for
 * ntr_debug_info_set_path. */
ntr_frame_rules *ntr_frame_rules_new(const ntr_program *program, ntr_debug_info *debug, const char *debug_path,
                                     const ntr_allocator *allocator);
void ntr_frame_rules_free(ntr_frame_rules *rules);

/* The debugger has its own description of some code: where `has_rule` returns true, `rule` holds. */
void ntr_frame_rules_set_own(ntr_frame_rules *rules, const ntr_frame_rule *rule,
                             bool (*has_rule)(void *user, const ntr_context *context, uint64_t address), void *user);

/* Returns the rule at `pc`. `lookup` is the address by which the function and its CFI are found: pc, or pc - 1 where pc
 * is a return address. */
ntr_frame_rule ntr_frame_rule_at(ntr_frame_rules *rules, const ntr_context *context, uint64_t position, uint64_t pc,
                                 uint64_t lookup);

#endif
