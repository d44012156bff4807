#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dpi_fail(dpi_error *error, const char *format, ...) {
    va_list list;

    if (error->text[0]) return;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
}

int dpi_status(dpi_error *error, const char *operation, ntr_status status, const char *details) {
    if (status < 0) dpi_fail(error, "%s: %s", operation, details && *details ? details : ntr_status_text(status));
    return status;
}

/* Sets one option: "name=value", or "name" for a flag. */
static bool set_option(dpi_error *error, char *option, ntr_encoder_config *config) {
    char *value = strchr(option, '=');

    if (value) *value++ = 0;
    ntr_status status = ntr_encoder_option_set(config, option, value);
    if (status == NTR_OK) return true;
    dpi_fail(error, "option %s=%s: %s", option, value ? value : "", ntr_status_text(status));
    return false;
}

bool dpi_options(dpi_error *error, const char *options, ntr_encoder_config *config) {
    char *copy = strdup(options), *rest = copy;
    const char *why = "out of memory";
    bool valid = copy != NULL;

    ntr_encoder_config_init(config);
    for (char *option = strtok_r(copy, " ", &rest); valid && option; option = strtok_r(NULL, " ", &rest))
        valid = set_option(error, option, config);
    free(copy);
    if (valid && ntr_encoder_config_check(config, &why) == NTR_OK) return true;
    dpi_fail(error, "options \"%s\": %s", options, why);
    return false;
}

bool dpi_bytes_add(dpi_bytes *bytes, const uint8_t *data, size_t size) {
    if (bytes->size + size > bytes->capacity) {
        size_t capacity = 2 * bytes->capacity + size + 256;
        uint8_t *grown = realloc(bytes->data, capacity);
        if (!grown) return false;
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return true;
}
