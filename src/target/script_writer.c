/* What the languages of scripts share: lines, addresses, and which registers are read. */
#include "target/script.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { SCRIPT_LINE = 4096 };

void script_put(const script_writer *writer, const char *format, ...) {
    char line[SCRIPT_LINE];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof line)
        *writer->status = NTR_E_RANGE; /* a line that is cut would be another command */
    else
        writer->options->write(writer->options->user, line);
}

bool script_one_sink(const script_writer *writer) {
    const ntr_system *system = writer->target->system;
    if (!target_is_ram(writer->sink)) return false;
    for (size_t i = 0; i < system->count; i++) {
        if (!system->components[i]->output_count && system->components[i] != writer->sink) return false;
    }
    return true;
}

const char *script_words(const script_writer *writer) {
    return writer->options->words ? writer->options->words : "words.txt";
}

void script_registers(const script_writer *writer, void (*put)(const script_writer *writer, uint64_t address)) {
    const ntr_system *system = writer->target->system;
    for (size_t i = 0; i < system->count; i++) {
        const trace_component *one = system->components[i];
        if (one != writer->sink && !ntr_system_leads(system, i, writer->sink->index)) continue;
        for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++) {
            const ntr_register_info *info = ntr_register_get(reg);
            unsigned number;
            if (info->count > 1 || reg == NTR_REGISTER_RAM_DATA || reg == NTR_REGISTER_TMC_RRD) continue;
            if (ntr_register_at(one->ops->kind, info->offset, &number) == reg)
                put(writer, bring_up_address(one, (ntr_register)reg, 0));
        }
    }
}

void script_field(const script_writer *to, const char *name, const bring_up_step *step) {
    const ntr_bits_info *info = ntr_bits_get(step->bits);
    script_put(to, "ntr_%s 0x%" PRIx64 " 0x%" PRIx32 " %u ", name,
               bring_up_address(step->component, step->reg, step->number), ntr_bits_mask(info), info->low);
}
