/* Attributes of the entries of DWARF (DIEs). libdw returns the same for what is not there and for what cannot be read;
 * its error number tells these apart. These functions set *damaged when something is there and cannot be read, and
 * leave it as it is otherwise. */
#ifndef NTR_ANALYSIS_DIE_H
#define NTR_ANALYSIS_DIE_H

#include <elfutils/libdw.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry refers to an entry that refers to another one (DW_AT_abstract_origin, DW_AT_specification) at most so often;
 * libdw follows no more. */
enum { NTR_DIE_REFERENCES_MAX = 16 };

/* Returns whether the entry itself has the attribute, and stores it. */
bool ntr_die_own(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute, bool *damaged);
/* The same for the entry or those that it refers to. */
bool ntr_die_any(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute, bool *damaged);

/* The values of ntr_die_any: 0 also for a number of more than 32 bits, NULL and false when it is absent. */
uint32_t ntr_die_number(Dwarf_Die *die, unsigned name, bool *damaged);
const char *ntr_die_string(Dwarf_Die *die, unsigned name, bool *damaged);
bool ntr_die_flag(Dwarf_Die *die, unsigned name, bool *damaged);

/* Stores the value of a constant attribute of the entry itself. Returns false when it has none. */
bool ntr_die_constant(Dwarf_Die *die, unsigned name, Dwarf_Word *value, bool *damaged);
/* Stores the entry that `attribute` refers to. */
bool ntr_die_entry(Dwarf_Attribute *attribute, Dwarf_Die *entry, bool *damaged);
/* Returns whether the references of an entry to others come to an end. */
bool ntr_die_ends(Dwarf_Die *die);

int ntr_die_tag(Dwarf_Die *die, bool *damaged);
/* dwarf_ranges, which leaves an error behind for an entry without code. */
ptrdiff_t ntr_die_ranges(Dwarf_Die *die, ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *low, Dwarf_Addr *high,
                         bool *damaged);

/* Returns whether a function or unit refers to a list of ranges, of which the caller knows that it is empty: compilers
 * write no such list, a section of zeros has nothing else. */
bool ntr_die_has_empty_ranges(Dwarf_Die *die);

/* Returns the file with that number in the line table of a unit, or NULL. */
const char *ntr_die_file(Dwarf_Die *unit, Dwarf_Word number, bool *damaged);

#endif
