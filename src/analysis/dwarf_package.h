/* DWARF package files (.dwp): the .dwo files of a program in one file, with an index.
 *
 * libdw 0.188 does not read packages, but .dwo files: it opens the file that a skeleton unit of the program names. The
 * parts of a unit are therefore made to a .dwo file in memory, and the program's skeleton units are written once more,
 * with a name by which libdw finds that file. */
#ifndef NTR_ANALYSIS_DWARF_PACKAGE_H
#define NTR_ANALYSIS_DWARF_PACKAGE_H

#include "analysis/dwfl_file.h"

typedef struct ntr_dwarf_package ntr_dwarf_package;

/* Opens the package of a program: PROGRAM.dwp, where PROGRAM is the name or the path of the image or its separate debug
 * file, or one with the name of the image in `folders` (colon-separated; may be NULL). `skeletons`: the debug
 * information of the program. It and `debug` must stay open. At most the limit DEBUG_OUTPUT + NTR_EXPANDED_TIMES bytes
 * for each byte of the package are copied. A package that cannot be used is added to the damage of `debug`. Stores NULL
 * if there is none, or none that can be used. Errors: NTR_E_MEMORY. */
ntr_status ntr_dwarf_package_open(ntr_dwarf_package **package, const ntr_dwfl_file *debug, const char *program,
                                  const char *folders, Dwarf *skeletons);

/* Stores the unit of a skeleton unit of the program; it is valid until ntr_dwarf_package_close. Returns NTR_END if the
 * package does not have it, or if it is damaged. Errors: NTR_E_MEMORY. */
ntr_status ntr_dwarf_package_unit(ntr_dwarf_package *package, Dwarf_Die *skeleton, Dwarf_Die *unit);
/* Returns the path of the package. */
const char *ntr_dwarf_package_path(const ntr_dwarf_package *package);
void ntr_dwarf_package_close(ntr_dwarf_package *package);

#endif
