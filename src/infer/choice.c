#include "infer/choice.h"

#include <stdarg.h>
#include <stdio.h>

const char *ntr_confidence_name(unsigned confidence) {
    static const char *const texts[] = {"given", "sure", "likely", "does not matter", "not determined"};
    return confidence < sizeof texts / sizeof texts[0] ? texts[confidence] : NULL;
}

__attribute__((format(printf, 3, 0))) static void set_choice(ntr_choice *choice, const char *value, const char *format,
                                                             va_list arguments) {
    snprintf(choice->value, sizeof choice->value, "%s", value);
    vsnprintf(choice->evidence, sizeof choice->evidence, format, arguments);
}

/* While the width of SRC is open, every message may be another one: what was tried with one width is not sure. Example:
 * 34 KiB with 12 bits of SRC decode without contradiction with 5 bits, as if no register jump had a message. */
static ntr_confidence with_any_source(const ntr_search *s, ntr_parameter p, ntr_confidence confidence) {
    const bool open = s->out->choices[NTR_PARAMETER_SRC_BITS].confidence == NTR_CONFIDENCE_UNKNOWN;
    return open && p != NTR_PARAMETER_XLEN && confidence == NTR_CONFIDENCE_SURE ? NTR_CONFIDENCE_LIKELY : confidence;
}

void ntr_choose(ntr_search *s, ntr_parameter p, ntr_confidence confidence, const char *value, const char *format, ...) {
    ntr_choice *choice = &s->out->choices[p];
    bool given = ntr_infer_given(s, p);
    va_list arguments;
    va_start(arguments, format);
    set_choice(choice, value, format, arguments);
    va_end(arguments);
    choice->confidence = (uint8_t)(given ? NTR_CONFIDENCE_GIVEN : with_any_source(s, p, confidence));
    if (given) choice->evidence[0] = 0;
    if (!(s->said >> p & 1)) return;
    choice->confidence = NTR_CONFIDENCE_LIKELY; /* damage may change what the message says, and nothing else */
    snprintf(choice->evidence, sizeof choice->evidence, "%s", "a Config message of the stream says it");
}

void ntr_choose_mode(ntr_search *s, ntr_confidence confidence, const char *value, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_choice(&s->out->mode, value, format, arguments);
    va_end(arguments);
    s->out->mode.confidence = (uint8_t)confidence;
}

void ntr_choose_by_trial(ntr_search *s, ntr_parameter p, ntr_verdict v, const char *value) {
    const ntr_infer_trial *best = &s->trials[s->best];
    if (v.confidence == NTR_CONFIDENCE_NO_MATTER)
        ntr_choose(s, p, v.confidence, value, "the stream decodes to the same execution either way");
    else if (v.confidence == NTR_CONFIDENCE_UNKNOWN)
        ntr_choose(s, p, v.confidence, value, "several values decode without contradiction");
    else
        ntr_choose(s, p, v.confidence, value,
                   "%llu messages followed with %llu contradictions; the next best value: %llu with %llu",
                   (unsigned long long)best->followed, (unsigned long long)ntr_infer_failures(best),
                   (unsigned long long)v.other->followed, (unsigned long long)ntr_infer_failures(v.other));
}
