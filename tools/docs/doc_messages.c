/* Prints docs/messages.md: every message, field, value and rule of the tables. */
#include "message/values.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const shapes[] = {
    [NTR_SHAPE_CONFIG] = "as the stream is set up, at most",
    [NTR_SHAPE_FIXED] = "fixed",
    [NTR_SHAPE_VARIABLE] = "variable, at most",
    [NTR_SHAPE_ADDRESS] = "variable (address), at most",
    [NTR_SHAPE_MORE] = "variable, with the field before it, at most",
};

/* What stands behind a field's name: "[4]", "[Var]". */
static void print_shape(const ntr_field_info *info) {
    if (info->shape == NTR_SHAPE_FIXED)
        printf("[%u]", info->bits);
    else
        printf("[Var]");
}

static void print_entry(const ntr_message_field *entry) {
    const ntr_field_info *info = ntr_field_get((ntr_field)entry->field);
    printf("%s", info->name);
    print_shape(info);
    if (entry->condition != NTR_FIELD_NONE)
        printf(" (if %s = %u)", ntr_field_name((ntr_field)entry->condition), entry->when);
    if (entry->optional) printf(" (may be missing: 0)");
}

typedef struct flag_name {
    const char *id, *text;
} flag_name;

/* The set's members, then the end of the cell. */
static void print_flags(const flag_name *names, unsigned set) {
    for (bool more = false; set; set &= set - 1, more = true)
        printf("%s%s", more ? ", " : "", names[__builtin_ctz(set)].id);
    printf(" |");
}

static void print_flag_names(const char *title, const flag_name *names, size_t count) {
    printf("| %s | meaning |\n|---|---|\n", title);
    for (size_t i = 0; i < count; i++) printf("| %s | %s |\n", names[i].id, names[i].text);
    printf("\n");
}

#define NTR_FLAG(id, text) {#id, text},
static const flag_name roles[] = {NTR_ROLES(NTR_FLAG)};
static const flag_name message_flags[] = {NTR_MESSAGE_FLAGS(NTR_FLAG)};
static const flag_name value_flags[] = {NTR_VALUE_FLAGS(NTR_FLAG)};
#undef NTR_FLAG

static void print_messages(unsigned set) {
    const ntr_message_info *row;
    printf("| TCODE | message | fields after TCODE[6] and SRC | | role | properties |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; (row = ntr_message_at(i)); i++) {
        if (row->messages != set) continue;
        printf("| %u | %s | ", row->tcode, row->name);
        for (const ntr_message_field *entry = row->fields; entry->field != NTR_FIELD_NONE; entry++) {
            if (entry != row->fields) printf(", ");
            print_entry(entry);
        }
        printf(" | %s | %s | ", row->about, roles[row->role].id);
        print_flags(message_flags, row->flags);
        printf("\n");
    }
    printf("\n");
}

/* What the sets of rows are called. */
typedef struct set_row {
    unsigned messages;
    const char *name;
} set_row;

static const set_row sets[] = {
    {NTR_MESSAGES_1_0, "N-Trace 1.0"},        {NTR_MESSAGES_SIFIVE, "SiFive dialects (`sifive-pre1.0`, `p550`)"},
    {NTR_MESSAGES_TTDFD, "Dialect `tt-dfd`"}, {NTR_MESSAGES_ANDES, "Dialect `andes`"},
    {NTR_MESSAGES_CTTE, "Dialect `ctte`"},    {NTR_MESSAGES_DATA, "Data trace"},
};

static const char *set_name(unsigned messages) {
    for (const set_row *set = sets; set < sets + sizeof sets / sizeof *sets; set++)
        if (messages & set->messages) return set->name;
    return "?";
}

static bool has_messages(unsigned messages) {
    const ntr_message_info *row;
    for (size_t i = 0; (row = ntr_message_at(i)); i++)
        if (row->messages & messages) return true;
    return false;
}

static void print_fields(void) {
    printf("| field | bits | format | content |\n|---|---|---|---|\n");
    for (unsigned f = 0; f < NTR_FIELD_COUNT; f++) {
        const ntr_field_info *info = ntr_field_get((ntr_field)f);
        printf("| %s | %s %u | %s | %s |\n", info->name, shapes[info->shape], info->bits,
               info->base == NTR_BASE_DEC ? "decimal" : "hexadecimal", info->about);
    }
    printf("\n");
}

static void print_values(void) {
    const ntr_value_info *row;
    printf("| field | value | name | meaning | properties | where |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; (row = ntr_value_at(i)); i++) {
        printf("| %s | %u", ntr_field_name((ntr_field)row->field), row->first);
        if (row->last != row->first) printf("..%u", row->last);
        printf(" | %s | %s | ", row->name, row->about);
        print_flags(value_flags, row->flags);
        printf(" %s |\n", set_name(row->messages));
    }
    printf("\n");
    print_flag_names("property", value_flags, NTR_VALUE_BIT_RESERVED);
}

static void print_range(const ntr_value_rule *rule) {
    if (rule->high == UINT64_MAX)
        printf("%" PRIu64 " or more", rule->low);
    else
        printf("%" PRIu64 "..%" PRIu64, rule->low, rule->high);
}

static void print_rules(void) {
    const ntr_value_rule *rule;
    printf("| field | when | must be | else | where |\n|---|---|---|---|---|\n");
    for (size_t i = 0; (rule = ntr_rule_at(i)); i++) {
        printf("| %s | ", ntr_field_name((ntr_field)rule->field));
        if (rule->condition == NTR_FIELD_NONE)
            printf("always");
        else
            printf("%s = %u", ntr_field_name((ntr_field)rule->condition), rule->when);
        printf(" | ");
        print_range(rule);
        printf(" | %s | %s |\n", ntr_status_text((ntr_status)rule->defect), set_name(rule->messages));
    }
}

int main(void) {
    printf(
        "# Messages\n\n"
        "Made by `make docs` from `include/ntrace/messages.def`, `include/ntrace/fields.def`, `include/ntrace/values.def` and\n"
        "`src/message/rules.def`. Decoder, encoder, `ntrace dump` and `ntrace assemble` use the same tables. Do not edit this page.\n"
        "\n"
        "```sh\n"
        "ntrace dump --bytes capture.nex | head      # the messages of a stream, with their bytes\n"
        "```\n"
        "\n"
        "Every message begins with TCODE[6], followed by SRC when the stream has SRC bits, and may end with TSTAMP[Var].\n"
        "`[n]` is a field of n bits. `[Var]` is a field of variable size: its MSEO bits mark its end, on a byte boundary. TCODEs\n"
        "56..62 are vendor defined. Other TCODEs without a row are reserved. Decoding and encoding preserve both.\n"
        "\n"
        "## N-Trace 1.0\n\n");
    print_messages(NTR_MESSAGES_1_0);
    for (const set_row *set = sets; set < sets + sizeof sets / sizeof *sets; set++) {
        if (set->messages == NTR_MESSAGES_1_0 || !has_messages(set->messages)) continue;
        printf("## %s only\n\n", set->name);
        print_messages(set->messages);
    }
    printf(
        "## Roles and properties of messages\n\nThe role of a message is its effect on the execution that a decoder follows.\n\n");
    print_flag_names("role", roles, NTR_ROLE_COUNT);
    print_flag_names("property", message_flags, NTR_MESSAGE_BITS);
    printf(
        "## Fields\n\n"
        "The widths are limits of an encoder. A decoder accepts up to 64 significant bits in any variable field.\n\n");
    print_fields();
    printf(
        "## Values\n\n"
        "A value that is not listed for one of these fields is reserved. The constant of a value is `NTR_<field>_<id>`\n"
        "(`<ntrace/values.h>`). When several rows have the same value, the first one in the stream's dialect applies.\n\n");
    print_values();
    printf("## Rules\n\nA message that violates one of these rules is malformed.\n\n");
    print_rules();
    return 0;
}
