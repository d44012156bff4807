#include "options/options.h"
#include "io/document.h"
#include "io/output.h"
#include "options/diagnostics.h"

#include <ntrace/registers.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_SIZE = 64 };

struct regs_options {
    struct cli_result result;
};

static const struct cli_option regs_table[] = {
    CLI_CHOICE(0, "format", "text|jsonl|json", struct regs_options, result.format, CLI_FORMAT_TEXT,
               "output format: a table (default), JSON lines, or JSON: one document with the registers"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", regs_table),
    CLI_GROUP("output", cli_path_options, struct regs_options, result),
    {0},
};

struct printer {
    struct cli_output *out;
    bool json;
};

/* ---- one field */

static void reset_text(const ntr_bits_info *bits, char *out, size_t size) {
    if (bits->reset == NTR_RESET_U)
        snprintf(out, size, "U");
    else if (bits->reset == NTR_RESET_SD)
        snprintf(out, size, "SD");
    else
        snprintf(out, size, "%d", bits->reset);
}

static void range_text(const ntr_bits_info *bits, char *out, size_t size) {
    if (bits->high == bits->low)
        snprintf(out, size, "%u", bits->low);
    else
        snprintf(out, size, "%u:%u", bits->high, bits->low);
}

static void print_values(const struct printer *to, ntr_bits bits) {
    const ntr_register_value_info *value;
    for (size_t i = 0; (value = ntr_register_value_get(i)); i++)
        if (value->bits == bits) cli_output_print(to->out, "%27s%u  %s\n", "", value->value, value->meaning);
}

static void print_bits_text(const struct printer *to, ntr_bits bits) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    char range[NAME_MAX_SIZE], reset[NAME_MAX_SIZE];
    range_text(info, range, sizeof range);
    reset_text(info, reset, sizeof reset);
    cli_output_print(to->out, "  %5s  %-30s  %-4s  %-2s  %s%s\n", range, info->name, ntr_access_name(info->access),
                     reset, info->meaning, info->compliance == NTR_ABSENT ? " (absent in N-Trace 1.0)" : "");
    print_values(to, bits);
}

static void print_bits_json(const struct printer *to, ntr_bits bits) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    char reset[NAME_MAX_SIZE];
    reset_text(info, reset, sizeof reset);
    cli_output_print(to->out,
                     "{\"type\":\"field\",\"register\":\"%s\",\"name\":\"%s\",\"high\":%u,\"low\":%u,\"access\":\"%s\","
                     "\"reset\":\"%s\",\"compliance\":\"%s\",\"meaning\":",
                     ntr_register_get(info->reg)->name, info->name, info->high, info->low,
                     ntr_access_name(info->access), reset, ntr_compliance_name(info->compliance));
    cli_output_json(to->out, info->meaning);
    cli_output_text(to->out, "}\n");
}

/* ---- one register */

static void print_register_line(const struct printer *to, ntr_register reg) {
    const ntr_register_info *row = ntr_register_get(reg);
    if (to->json) {
        cli_output_print(to->out,
                         "{\"type\":\"register\",\"component\":\"%s\",\"name\":\"%s\",\"offset\":%u,\"count\":%u,"
                         "\"stride\":%u,\"compliance\":\"%s\"}\n",
                         ntr_component_get(row->component)->name, row->name, row->offset, row->count, row->stride,
                         ntr_compliance_name(row->compliance));
        return;
    }
    cli_output_print(to->out, "0x%03x  %-32s  %s", row->offset, row->name, ntr_compliance_name(row->compliance));
    if (row->count > 1) cli_output_print(to->out, ", %u registers, 0x%x bytes apart", row->count, row->stride);
    cli_output_text(to->out, "\n");
}

static void print_register(const struct printer *to, ntr_register reg) {
    print_register_line(to, reg);
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        if (ntr_bits_get(bits)->reg != reg) continue;
        (to->json ? print_bits_json : print_bits_text)(to, (ntr_bits)bits);
    }
}

static void print_component(const struct printer *to, ntr_component component, bool with_bits) {
    if (!to->json) cli_output_print(to->out, "%s\n", ntr_component_get(component)->title);
    for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++)
        if (ntr_register_get(reg)->component == component)
            (with_bits ? print_register : print_register_line)(to, (ntr_register)reg);
}

static void print_all(const struct printer *to) {
    for (unsigned component = 0; component < NTR_COMPONENT_COUNT; component++) {
        if (component && !to->json) cli_output_text(to->out, "\n");
        print_component(to, (ntr_component)component, to->json);
    }
}

/* ---- a value */

static void print_value(const struct printer *to, ntr_bits bits, uint32_t value) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    const char *word = ntr_bits_meaning(bits, value);
    char range[NAME_MAX_SIZE];
    if (to->json) {
        cli_output_print(to->out, "{\"type\":\"value\",\"field\":\"%s\",\"value\":%u,\"meaning\":", info->name, value);
        cli_output_json(to->out, word ? word : info->meaning);
        cli_output_text(to->out, "}\n");
        return;
    }
    range_text(info, range, sizeof range);
    cli_output_print(to->out, "  %5s  %-30s  0x%-8x  %s%s%s\n", range, info->name, value, info->meaning,
                     word ? ": " : "", word ? word : "");
}

/* Reports bits of `word` that are set but belong to no field. Returns CLI_DEFECTS if there are any, otherwise
 * CLI_OK. */
static int check_reserved(const char *name, ntr_register reg, uint32_t word) {
    uint32_t known = 0;
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++)
        if (ntr_bits_get(bits)->reg == reg) known |= ntr_bits_mask(ntr_bits_get(bits));
    if (!(word & ~known)) return CLI_OK;
    cli_note("%s: reserved bits are set: 0x%x", name, word & ~known);
    return CLI_DEFECTS;
}

static int print_word(const struct printer *to, const char *name, ntr_register reg, uint32_t word) {
    if (!to->json) cli_output_print(to->out, "%s = 0x%08x\n", name, word);
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++)
        if (ntr_bits_get(bits)->reg == reg) print_value(to, (ntr_bits)bits, ntr_bits_value(ntr_bits_get(bits), word));
    return check_reserved(name, reg, word);
}

static int print_field_value(const struct printer *to, ntr_bits bits, uint32_t value) {
    const ntr_bits_info *info = ntr_bits_get(bits);
    const uint32_t most = ntr_bits_mask(info) >> info->low;
    if (value > most) return cli_fail("%s: expected at most 0x%x, found 0x%x", info->name, most, value);
    print_value(to, bits, value);
    return CLI_OK;
}

/* ---- operands */

/* Finds a component by its name ("encoder") or register prefix ("trTe").
 * Returns NTR_COMPONENT_COUNT if there is none. */
static ntr_component find_component(const char *name) {
    for (unsigned component = 0; component < NTR_COMPONENT_COUNT; component++) {
        const ntr_component_info *info = ntr_component_get(component);
        if (strcmp(info->name, name) == 0 || strcmp(info->prefix, name) == 0) return (ntr_component)component;
    }
    return NTR_COMPONENT_COUNT;
}

/* Finds a register by name. A register array may also be named as in the table, with % for the index. */
static ntr_register find_register(const char *name) {
    unsigned number;
    for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++)
        if (strcmp(ntr_register_get(reg)->name, name) == 0) return (ntr_register)reg;
    return ntr_register_find(name, &number);
}

static int unknown(const char *name) {
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++)
        if (cli_looks_like(name, ntr_bits_get(bits)->name))
            return cli_fail("no register or field '%s'; did you mean '%s'?", name, ntr_bits_get(bits)->name);
    for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++)
        if (cli_looks_like(name, ntr_register_get(reg)->name))
            return cli_fail("no register '%s'; did you mean '%s'?", name, ntr_register_get(reg)->name);
    return cli_fail("no component, register or field '%s'; 'ntrace regs' lists them", name);
}

static int print_assigned(const struct printer *to, const char *name, const char *text) {
    const ntr_register reg = find_register(name);
    const ntr_bits bits = ntr_bits_find(name);
    uint64_t value;
    if (!cli_parse_number(text, &value) || value > UINT32_MAX)
        return cli_fail("%s: expected a 32-bit number, found '%s'", name, text);
    if (reg != NTR_REGISTER_COUNT) return print_word(to, name, reg, (uint32_t)value);
    return bits != NTR_BITS_COUNT ? print_field_value(to, bits, (uint32_t)value) : unknown(name);
}

static int print_named(const struct printer *to, const char *name) {
    const ntr_component component = find_component(name);
    const ntr_register reg = find_register(name);
    const ntr_bits bits = ntr_bits_find(name);
    if (component != NTR_COMPONENT_COUNT)
        print_component(to, component, true);
    else if (reg != NTR_REGISTER_COUNT)
        print_register(to, reg);
    else if (bits != NTR_BITS_COUNT)
        (to->json ? print_bits_json : print_bits_text)(to, bits);
    else
        return unknown(name);
    return CLI_OK;
}

static int print_operand(const struct printer *to, const char *operand) {
    char name[NAME_MAX_SIZE];
    const char *equals = strchr(operand, '=');
    if (!equals) return print_named(to, operand);
    if ((size_t)(equals - operand) >= sizeof name) return unknown(operand);
    memcpy(name, operand, (size_t)(equals - operand));
    name[equals - operand] = 0;
    return print_assigned(to, name, equals + 1);
}

static int regs_run(const void *options, char **operands) {
    const struct regs_options *o = options;
    struct cli_output out;
    const struct cli_result result = cli_result_of_third(o->result);
    if (cli_document_open(&out, &result, "regs") != CLI_OK) return CLI_FAILED;
    const struct printer to = {&out, o->result.format != CLI_FORMAT_TEXT};
    int status = CLI_OK;
    if (!operands[0]) print_all(&to);
    for (; *operands && status != CLI_FAILED; operands++) {
        const int one = print_operand(&to, *operands);
        if (one > status) status = one;
    }
    cli_document_end(&out, NULL);
    return cli_output_close(&out, status);
}

const struct cli_command cli_regs = {
    .operands = "[COMPONENT | REGISTER | FIELD | REGISTER=VALUE | FIELD=VALUE]...",
    .min_operands = 0,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct regs_options),
    .run = regs_run,
    .about = "Shows the registers of RISC-V Trace Control 1.0. Without operand, lists all registers. With a\n"
             "component (encoder, timestamp, ram, funnel, pib, atb), a register or a field, shows it in full. With a\n"
             "value, decodes the value. If reserved bits are set in a value, they are reported and the exit status\n"
             "is 1.\n"
             "\n"
             "The description of a field consists of its bits, access, value after reset (U: undefined, SD: system\n"
             "dependent) and meaning.",
    .examples = "  ntrace regs trTeControl=0x61\n"
                "  ntrace regs ram\n"
                "  ntrace regs trTeInstMode=6",
};
