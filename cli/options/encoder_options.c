#include "options/encoder_options.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <string.h>

#define ROWS_MAX 64

static uint8_t argument_kind(const ntr_encoder_option *option) {
    return option->argument == NTR_OPTION_FLAG       ? CLI_ARGUMENT_SWITCH
           : option->argument == NTR_OPTION_OPTIONAL ? CLI_ARGUMENT_OPTIONAL
                                                     : CLI_ARGUMENT_VALUE;
}

const struct cli_option *cli_encoder_rows(void) {
    static struct cli_option rows[ROWS_MAX + 1];
    const ntr_encoder_option *option;

    for (size_t i = 0; i < ROWS_MAX && (option = ntr_encoder_option_at(i)); i++) {
        rows[i] = (struct cli_option){
            .kind = CLI_KIND_LIST,
            .argument = argument_kind(option),
            .name = option->name,
            .value = option->argument == NTR_OPTION_FLAG ? NULL : option->value,
            .member = offsetof(struct cli_encoder, list),
            .help = option->help,
        };
    }
    return rows;
}

static const ntr_encoder_option *find(const char *name) {
    const ntr_encoder_option *option;

    for (size_t i = 0; (option = ntr_encoder_option_at(i)); i++) {
        if (strcmp(option->name, name) == 0) return option;
    }
    return NULL;
}

static int report_error(const struct cli_item *item, ntr_status status) {
    const ntr_encoder_option *option = find(item->name);
    const char *value = item->value ? item->value : "";

    if (option && option->numeric)
        return cli_fail("--%s: expected a number from %" PRIu64 " to %" PRIu64 ", found '%s'", item->name,
                        option->least, option->most, value);
    if (option && option->value)
        return cli_fail("--%s: expected %s, found '%s': %s", item->name, option->value, value, ntr_status_text(status));
    return cli_fail("--%s: %s", item->name, ntr_status_text(status));
}

/* Applies the options that are the dialect, or those that are not. */
static int apply(const struct cli_encoder *given, bool dialect, ntr_encoder_config *config) {
    for (size_t i = 0; i < given->list.count; i++) {
        const struct cli_item *item = &given->list.items[i];
        if ((strcmp(item->name, "dialect") == 0) != dialect) continue;
        ntr_status status = ntr_encoder_option_set(config, item->name, item->value);
        if (status != NTR_OK) return report_error(item, status);
    }
    return CLI_OK;
}

int cli_encoder_configure(const struct cli_encoder *given, ntr_encoder_config *config) {
    const char *why = NULL;

    /* The dialect comes first, wherever it is given: it sets other options. */
    if (apply(given, true, config) != CLI_OK || apply(given, false, config) != CLI_OK) return CLI_FAILED;
    ntr_status status = ntr_encoder_config_check(config, &why);
    return status == NTR_OK ? CLI_OK : cli_fail("encoder options: %s", why ? why : ntr_status_text(status));
}

bool cli_encoder_gives(const struct cli_encoder *given, const char *name) {
    for (size_t i = 0; i < given->list.count; i++) {
        if (strcmp(given->list.items[i].name, name) == 0) return true;
    }
    return false;
}
