/* Files of instructions that a user describes. */
#include "base/allocator.h"
#include "program/program.h"

#include <ntrace/program_files.h>
#include <string.h>

static ntr_status add_rule(ntr_program *program, const char *path, size_t number, const char *line, const char *end) {
    const char *found, *found_end;
    ntr_rule rule;
    const char *expected = ntr_rule_parse(line, end, &rule, &found, &found_end);
    if (expected && found == found_end)
        return ntr_program_fail(program, NTR_E_FORMAT, path, "line %zu: expected %s, found the end of the line", number,
                                expected);
    if (expected)
        return ntr_program_fail(program, NTR_E_FORMAT, path, "line %zu: expected %s, found '%.*s'", number, expected,
                                (int)(found_end - found < 24 ? found_end - found : 24), found);
    if (program->rule_count == NTR_RULES_MAX)
        return ntr_program_fail(program, NTR_E_FORMAT, path, "line %zu: expected at most %d instructions", number,
                                NTR_RULES_MAX);
    if (ntr_reserve(program->allocator, (void **)&program->rules, &program->rule_capacity, program->rule_count + 1,
                    sizeof rule))
        return ntr_program_fail(program, NTR_E_MEMORY, path, "out of memory");
    program->rules[program->rule_count++] = rule;
    return NTR_OK;
}

ntr_status ntr_program_add_instructions(ntr_program *program, const char *path) {
    void *mapping;
    size_t size;
    ntr_status status = ntr_program_map_file(program, path, &mapping, &size);
    if (status != NTR_OK) return status;
    const char *at = mapping, *const end = at + size;
    const size_t before = program->rule_count;
    for (size_t number = 1; at < end && status == NTR_OK; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *word = at, *word_end;
        if (!stop) stop = end;
        const char *comment = memchr(at, '#', (size_t)(stop - at));
        if (ntr_rule_word(&word, comment ? comment : stop, &word_end))
            status = add_rule(program, path, number, at, comment ? comment : stop);
        at = stop < end ? stop + 1 : end;
    }
    ntr_file_unmap(mapping, size);
    if (status != NTR_OK) program->rule_count = before;
    program->revision++;
    program->code_revision++;
    return status;
}
