/* One ELF file in libdwfl, with the folders of its separate debug files. */
#ifndef NTR_ANALYSIS_DWFL_FILE_H
#define NTR_ANALYSIS_DWFL_FILE_H

#include <ntrace/program.h>

#include <elfutils/libdwfl.h>

typedef struct ntr_dwfl_file {
    const ntr_allocator *allocator;
    Dwfl_Callbacks callbacks;
    char *folders;      /* searched by build ID and .gnu_debuglink; colon-separated */
    char *link_folders; /* searched by .gnu_debuglink only */
    char *searched;     /* one of them */
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: the file cannot be read */
} ntr_dwfl_file;

/* Opens the file of an image. Separate debug files are searched in the folders of `debug_path` (colon-separated; may be
 * NULL), beside the file at the path that is the name of the image, in usr/lib/debug of each folder above it (a
 * sysroot), and in the default folders; after that, by the debuginfod client if the environment configures it. `file`
 * must not be moved until ntr_dwfl_file_close. Returns NTR_OK or NTR_E_MEMORY. */
ntr_status ntr_dwfl_file_open(ntr_dwfl_file *file, const ntr_image_info *image, const char *debug_path,
                              const ntr_allocator *allocator);
void ntr_dwfl_file_close(ntr_dwfl_file *file);

#endif
