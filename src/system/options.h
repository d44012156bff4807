/* Options of a component in a topology: values by name, from the table options.def. */
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
    uint32_t components; /* bit n: component type n (ntr_component) has the option */
    uint8_t type;        /* option_type */
    uint64_t preset[PRESET_COUNT];
    uint64_t least, most;
} option_info;

typedef struct option_values {
    uint64_t value[OPTION_COUNT];
} option_values;

/* Returns the option, or NULL when `option` is past the last one. */
const option_info *option_get(size_t option);

/* Returns the option of this component type with this name, or OPTION_COUNT when there is none. */
option_id option_find(ntr_component component, const char *name);

/* Returns the preset "minimal", "typical" or "maximal", or PRESET_COUNT for any other name. */
preset_id preset_find(const char *name);

void options_preset(option_values *options, preset_id preset);

/* Checks that the values are consistent. Returns NULL, or a description of the error such as "implicit_return needs
 * itype_width 4"; *which is then the option with the error. */
const char *options_check(const option_values *options, ntr_component component, option_id *which);

#define OPTION(options, id) ((options)->value[OPTION_##id])

#endif
