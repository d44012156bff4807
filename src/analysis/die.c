#include "analysis/die.h"

#include <dwarf.h>

/* libdw keeps the last error until it is asked for. */
static void forget(void) {
    (void)dwarf_errno();
}

static void look_for_error(bool *damaged) {
    if (dwarf_errno() != 0) *damaged = true;
}

bool ntr_die_own(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute, bool *damaged) {
    forget();
    if (dwarf_attr(die, name, attribute)) return true;
    look_for_error(damaged);
    return false;
}

bool ntr_die_any(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute, bool *damaged) {
    forget();
    if (dwarf_attr_integrate(die, name, attribute)) return true;
    look_for_error(damaged);
    return false;
}

uint32_t ntr_die_number(Dwarf_Die *die, unsigned name, bool *damaged) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!ntr_die_any(die, name, &attribute, damaged)) return 0;
    if (dwarf_formudata(&attribute, &value) != 0) *damaged = true;
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

const char *ntr_die_string(Dwarf_Die *die, unsigned name, bool *damaged) {
    Dwarf_Attribute attribute;
    if (!ntr_die_any(die, name, &attribute, damaged)) return NULL;
    const char *text = dwarf_formstring(&attribute);
    if (text && *text) return text;
    *damaged = true; /* an entry without a name has no attribute; a table of zeros has empty texts */
    return NULL;
}

bool ntr_die_flag(Dwarf_Die *die, unsigned name, bool *damaged) {
    Dwarf_Attribute attribute;
    bool set = false;
    if (!ntr_die_any(die, name, &attribute, damaged)) return false;
    if (dwarf_formflag(&attribute, &set) != 0) *damaged = true;
    return set;
}

bool ntr_die_constant(Dwarf_Die *die, unsigned name, Dwarf_Word *value, bool *damaged) {
    Dwarf_Attribute attribute;
    if (!ntr_die_own(die, name, &attribute, damaged)) return false;
    if (dwarf_formudata(&attribute, value) == 0) return true;
    *damaged = true;
    return false;
}

bool ntr_die_entry(Dwarf_Attribute *attribute, Dwarf_Die *entry, bool *damaged) {
    if (dwarf_formref_die(attribute, entry)) return true;
    *damaged = true;
    return false;
}

bool ntr_die_ends(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Die at = *die;
    for (unsigned i = 0; i < NTR_DIE_REFERENCES_MAX; i++) {
        if (!dwarf_attr(&at, DW_AT_abstract_origin, &attribute) && !dwarf_attr(&at, DW_AT_specification, &attribute))
            return true;
        if (!dwarf_formref_die(&attribute, &at)) return false;
    }
    return false;
}

int ntr_die_tag(Dwarf_Die *die, bool *damaged) {
    const int tag = dwarf_tag(die);
    if (tag == DW_TAG_invalid) *damaged = true;
    return tag;
}

ptrdiff_t ntr_die_ranges(Dwarf_Die *die, ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *low, Dwarf_Addr *high,
                         bool *damaged) {
    const ptrdiff_t next = dwarf_ranges(die, at, base, low, high);
    if (next < 0 || (next == 0 && at == 0 && ntr_die_has_empty_ranges(die))) *damaged = true;
    return next;
}

bool ntr_die_has_empty_ranges(Dwarf_Die *die) {
    Dwarf_Attribute ranges;
    const int tag = dwarf_tag(die);
    return (tag == DW_TAG_subprogram || tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) &&
           dwarf_attr(die, DW_AT_ranges, &ranges);
}

const char *ntr_die_file(Dwarf_Die *unit, Dwarf_Word number, bool *damaged) {
    Dwarf_Files *files;
    size_t count;
    const char *file = NULL;
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count) file = dwarf_filesrc(files, number, NULL, NULL);
    if (!file) *damaged = true;
    return file;
}
