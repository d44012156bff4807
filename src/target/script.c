#include "target/script.h"

#include "base/macros.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SCRIPT_LINE = 1024 };

static const script_language *const languages[] = {&script_openocd, &script_gdb};

void script_put(const script_writer *writer, const char *format, ...) {
    char line[SCRIPT_LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    writer->options->write(writer->options->user, line);
}

uint64_t script_address(const trace_component *component, ntr_register reg, unsigned number) {
    const ntr_register_info *info = ntr_register_get(reg);
    return component->base + info->offset + number * info->stride;
}

uint32_t script_action_bits(ntr_register reg) {
    uint32_t mask = 0;
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        const ntr_bits_info *info = ntr_bits_get(bits);
        if (info->reg == reg && (info->access == NTR_ACCESS_RW1C || info->access == NTR_ACCESS_W1))
            mask |= ntr_bits_mask(info);
    }
    return mask;
}

bool script_one_sink(const script_writer *writer) {
    const ntr_system *system = writer->target->system;
    for (size_t i = 0; i < system->count; i++) {
        const ntr_component kind = system->components[i]->ops->kind;
        if (kind != NTR_COMPONENT_ENCODER && kind != NTR_COMPONENT_FUNNEL && system->components[i] != writer->sink)
            return false;
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
            if (info->count > 1 || reg == NTR_REGISTER_RAM_DATA) continue;
            if (ntr_register_at(one->ops->kind, info->offset, &number) == reg)
                put(writer, script_address(one, (ntr_register)reg, 0));
        }
    }
}

typedef struct stepper {
    const script_writer *writer;
    const script_language *language;
} stepper;

static ntr_status take(void *user, const bring_up_step *step) {
    const stepper *to = user;
    to->language->step(to->writer, step);
    return NTR_OK;
}

ntr_status ntr_target_script(ntr_target *target, const ntr_script_options *options) {
    const script_writer writer = {options, target, target_component(target, options->sink)};
    if (!writer.sink || !target_is_ram(writer.sink)) return NTR_E_INVALID;
    for (size_t i = 0; i < NTR_COUNT(languages); i++) {
        if (strcmp(languages[i]->kind, options->kind) != 0) continue;
        stepper to = {&writer, languages[i]};
        const bring_up_taker taker = {take, &to};
        languages[i]->begin(&writer);
        bring_up_start(target->system, &taker);
        languages[i]->run(&writer);
        languages[i]->read(&writer);
        return NTR_OK;
    }
    return NTR_E_NAME;
}
