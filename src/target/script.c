#include "target/script.h"

#include "base/macros.h"

#include <string.h>

enum { WORDS_NAME_MAX = 512 };

static const script_language *const languages[] = {&script_openocd, &script_gdb};

typedef struct stepper {
    const script_writer *writer;
    const script_language *language;
} stepper;

static ntr_status take(void *user, const bring_up_step *step) {
    const stepper *to = user;
    to->language->step(to->writer, step);
    return NTR_OK;
}

/* The name is in commands of two languages and of a shell. */
static bool is_plain(const char *name) {
    const size_t size = strlen(name);
    return size && size <= WORDS_NAME_MAX && name[0] != '-' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/") == size;
}

ntr_status ntr_target_script(ntr_target *target, const ntr_script_options *options) {
    ntr_status status = NTR_OK;
    const script_writer writer = {options, target, target_component(target, options->sink), &status};
    if (!writer.sink || !is_plain(script_words(&writer))) return NTR_E_INVALID;
    if (!target_is_ram(writer.sink) && !tmc_is_sink(writer.sink)) return NTR_E_INVALID;
    if (tmc_is_sink(writer.sink)) TRY(target_check_etr(target, writer.sink));
    for (size_t i = 0; i < NTR_COUNT(languages); i++) {
        if (strcmp(languages[i]->kind, options->kind) != 0) continue;
        stepper to = {&writer, languages[i]};
        const bring_up_executor executor = {take, &to};
        languages[i]->begin(&writer);
        bring_up_start(target->system, &executor);
        languages[i]->run(&writer);
        languages[i]->read(&writer);
        return status;
    }
    return NTR_E_NAME;
}
