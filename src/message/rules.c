#include "message/rules.h"

#include "message/table.h"

#define NTR_RULE(field, condition, when, low, high, set, defect)                                                       \
    {NTR_FIELD_##field, NTR_FIELD_##condition, when, NTR_MESSAGES_##set, NTR_##defect, low, high},
static const ntr_rule rules[] = {
#include "message/rules.def"
};
#undef NTR_RULE

const ntr_rule *ntr_rule_at(size_t index) {
    return index < sizeof rules / sizeof rules[0] ? &rules[index] : NULL;
}

/* Fields that have a rule. */
#define NTR_RULE(field, condition, when, low, high, set, defect) | NTR_FIELD_BIT(NTR_FIELD_##field)
static const ntr_fields ruled = 0
#include "message/rules.def"
    ;
#undef NTR_RULE

ntr_status ntr_field_check(const ntr_dialect *dialect, const ntr_message *message, ntr_field field) {
    if (!(ruled & NTR_FIELD_BIT(field))) return NTR_OK;
    uint64_t value = message->value[field];
    const ntr_rule *rule;
    for (size_t i = 0; (rule = ntr_rule_at(i)); i++) {
        if (rule->field != field || !(rule->messages & ntr_dialect_messages(dialect))) continue;
        if (rule->condition != NTR_FIELD_NONE && message->value[rule->condition] != rule->when) continue;
        if (value < rule->low || value > rule->high) return rule->defect;
    }
    return NTR_OK;
}
