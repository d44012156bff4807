#include "dialect/dialects.h"

#include <string.h>

static const ntr_dialect *const dialects[] = {
    &ntr_dialect_ntrace_1_0,   &ntr_dialect_sifive, &ntr_dialect_p550,  &ntr_dialect_refcode,
    &ntr_dialect_nexus_data,   &ntr_dialect_tt_dfd, &ntr_dialect_andes, &ntr_dialect_xuantie,
    &ntr_dialect_microblaze_v, &ntr_dialect_ctte,
};

const ntr_dialect *ntr_dialect_at(size_t index) {
    return index < sizeof dialects / sizeof dialects[0] ? dialects[index] : NULL;
}

const ntr_dialect *ntr_dialect_find(const char *name) {
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
        if (strcmp(dialects[i]->name, name) == 0) return dialects[i];
    return NULL;
}
