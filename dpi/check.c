/* The checker for DPI-C: checks one stream against the rules of the specification, without a model. */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checker {
    dpi_error error;
    ntr_program *program;
    ntr_check *check;
    dpi_bytes findings; /* queue; each entry is one byte of severity, the text and a NUL */
};

static int describe(const ntr_finding *finding, char *out, size_t size) {
    int used = snprintf(out, size, "%s: message %" PRIu64 " @0x%" PRIx64 " %s", finding->rule->id, finding->message,
                        finding->offset, ntr_tcode_name(NULL, finding->tcode));
    if (finding->field != NTR_FIELD_NONE)
        used += snprintf(out + used, size - (size_t)used, " %s", ntr_field_name((ntr_field)finding->field));
    if (finding->has_address) used += snprintf(out + used, size - (size_t)used, " at 0x%" PRIx64, finding->address);
    used += snprintf(out + used, size - (size_t)used, ": %.200s (section %.16s)", finding->rule->about,
                     finding->rule->section);
    return used;
}

static void found(void *user, const ntr_finding *finding) {
    struct checker *checker = user;
    char text[512];
    int used = describe(finding, text + 1, sizeof text - 1);

    text[0] = (char)finding->severity;
    if (!dpi_bytes_add(&checker->findings, (const uint8_t *)text, (size_t)used + 2))
        dpi_fail(&checker->error, "out of memory");
}

static void open_check(struct checker *checker, const ntr_params *params) {
    ntr_check_config config;
    ntr_status status;

    ntr_check_config_init(&config);
    config.params = *params;
    config.program = checker->program;
    config.found = found;
    config.user = checker;
    status = ntr_check_new(&config, &checker->check);
    if (!checker->check) dpi_status(&checker->error, "checker", status, NULL);
}

void *ntr_dpi_check_new(const char *program, const char *options) {
    struct checker *checker = calloc(1, sizeof *checker);
    ntr_encoder_config config;

    if (!checker || !dpi_options(&checker->error, options, &config)) return checker;
    if (*program) {
        ntr_program_new(NULL, &checker->program);
        ntr_status status = checker->program ? ntr_program_add_elf(checker->program, program, NULL) : NTR_E_MEMORY;
        if (status < 0) {
            dpi_status(&checker->error, program, status, checker->program ? ntr_program_error(checker->program) : NULL);
            return checker;
        }
    }
    open_check(checker, &config.params);
    return checker;
}

void ntr_dpi_check_free(void *handle) {
    struct checker *checker = handle;

    if (!checker) return;
    ntr_check_free(checker->check);
    ntr_program_free(checker->program);
    free(checker->findings.data);
    free(checker);
}

const char *ntr_dpi_check_error(void *handle) {
    const struct checker *checker = handle;

    return checker ? checker->error.text : "out of memory";
}

static int feed(struct checker *checker, const uint8_t *data, size_t size, bool last) {
    if (!checker || !checker->check) return NTR_E_STATE;
    return dpi_status(&checker->error, "checker", ntr_check_feed(checker->check, data, size, last), NULL);
}

int ntr_dpi_check_byte(void *handle, unsigned byte) {
    const uint8_t value = (uint8_t)byte;

    return feed(handle, &value, 1, false);
}

int ntr_dpi_check_finish(void *handle) {
    return feed(handle, NULL, 0, true);
}

const char *ntr_dpi_check_take(void *handle, unsigned *severity) {
    struct checker *checker = handle;

    *severity = NTR_SEVERITY_NOTE;
    if (!checker) return "";
    dpi_bytes *findings = &checker->findings;
    if (findings->at == findings->size) {
        findings->at = findings->size = 0;
        return "";
    }
    const char *finding = (const char *)findings->data + findings->at;
    *severity = (unsigned char)finding[0];
    findings->at += strlen(finding + 1) + 2;
    return finding + 1;
}
