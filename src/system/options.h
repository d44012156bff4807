/* What is said of a component in a topology: numbers by name, from one table. */
#ifndef NTR_SYSTEM_OPTIONS_H
#define NTR_SYSTEM_OPTIONS_H

#include <ntrace/registers.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum option_id {
#define NTR_SYSTEM_OPTION(id, ...) OPTION_##id,
#include "system/options.def"
#undef NTR_SYSTEM_OPTION
    OPTION_COUNT,
} option_id;

#define OPTION_NONE UINT64_MAX

typedef enum option_type { OPTION_NUMBER, OPTION_FLAG, OPTION_SET } option_type;
typedef enum preset_id { PRESET_MINIMAL, PRESET_TYPICAL, PRESET_MAXIMAL, PRESET_COUNT } preset_id;

typedef struct option_info {
    const char *name;
    const char *meaning;
    uint32_t components; /* bit n: ntr_component n has it */
    uint8_t type;        /* option_type */
    uint64_t preset[PRESET_COUNT];
    uint64_t least, most;
} option_info;

typedef struct option_values {
    uint64_t value[OPTION_COUNT];
} option_values;

/* NULL past the last. */
const option_info *option_get(size_t option);

/* The option of this name that the component has; OPTION_COUNT when there is none. */
option_id option_find(ntr_component component, const char *name);

/* "minimal", ...; PRESET_COUNT for another name. */
preset_id preset_find(const char *name);

void options_preset(option_values *options, preset_id preset);

/* Whether the values go together. NULL, or what is wrong: "implicit_return needs itype_width 4"; `*which` is then
 * the option to blame. */
const char *options_check(const option_values *options, ntr_component component, option_id *which);

#define OPTION(options, id) ((options)->value[OPTION_##id])

#endif
