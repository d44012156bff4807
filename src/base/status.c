#include <ntrace/status.h>
#include <ntrace/version.h>

#include <stddef.h>

typedef struct status_row {
    int value;
    const char *name;
    const char *text;
} status_row;

static const status_row rows[] = {
#define NTR_STATUS(name, value, text) {value, "NTR_" #name, text},
#include <ntrace/status.def>
#undef NTR_STATUS
};

static const status_row *find(ntr_status status) {
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].value == (int)status) return &rows[i];
    return NULL;
}

const char *ntr_status_name(ntr_status status) {
    const status_row *row = find(status);
    return row ? row->name : "NTR_?";
}

const char *ntr_status_text(ntr_status status) {
    const status_row *row = find(status);
    return row ? row->text : "unknown status";
}

uint32_t ntr_version(void) {
    return NTR_VERSION;
}

const char *ntr_version_text(void) {
    return NTR_VERSION_TEXT;
}
