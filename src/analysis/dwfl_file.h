/* One ELF file in libdwfl, with the folders of its separate debug files. */
#ifndef NTR_ANALYSIS_DWFL_FILE_H
#define NTR_ANALYSIS_DWFL_FILE_H

#include <ntrace/limits.h>
#include <ntrace/program.h>

#include "analysis/debug_paths.h"
#include "base/damage.h"

#include <elfutils/libdwfl.h>

#include <stdbool.h>

typedef struct ntr_dwfl_file {
    const ntr_allocator *allocator;
    ntr_damage *damage;
    uint64_t expanded_free; /* limit of debug information that is decompressed */
    const char *name; /* of the image, in damage */
    Dwfl_Callbacks callbacks;
    char *folders;      /* searched by build ID and .gnu_debuglink; colon-separated */
    char *link_folders; /* searched by .gnu_debuglink only */
    char *searched;     /* one of them */
    ntr_debug_paths paths; /* files that were found beside the image */
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: the file cannot be read */
} ntr_dwfl_file;

/* Opens the file of an image. Separate debug files are searched in the folders of `debug_path` (colon-separated; may be
 * NULL), beside the file at the path that is the name of the image, in usr/lib/debug of each folder above it (a
 * sysroot), and in the default folders; after that, by the debuginfod client if the environment configures it. `file`
 * must not be moved until ntr_dwfl_file_close. A file that cannot be read, and sections that are damaged or expand to
 * more than the limit DEBUG_OUTPUT + NTR_EXPANDED_TIMES bytes for each of their bytes, are added to `damage`, which may
 * be NULL; such a file is not used. `limits` may be NULL. Returns NTR_OK or NTR_E_MEMORY. */
enum { NTR_EXPANDED_TIMES = 32 };
ntr_status ntr_dwfl_file_open(ntr_dwfl_file *file, const ntr_image_info *image, const char *debug_path,
                              ntr_damage *damage, const ntr_limits *limits, const ntr_allocator *allocator);

/* Returns the DWARF of the file or of its separate debug file, or NULL: there is none, or it is damaged. */
Dwarf *ntr_dwfl_file_dwarf(ntr_dwfl_file *file, Dwarf_Addr *bias);
/* Returns whether a section has a name of debug information, such as .debug_line, also in the form of GNU before ELF
 * had compressed sections (.zdebug_line). libdw has expanded the sections of a file that it reads. */
bool ntr_dwfl_is_section(const char *name, const char *wanted);
void ntr_dwfl_file_close(ntr_dwfl_file *file);

#endif
