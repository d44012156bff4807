/* Where the capture plugins for QEMU are. */
#ifndef CLI_IO_PLUGIN_H
#define CLI_IO_PLUGIN_H

#include <stddef.h>

/* Looks for a plugin in the folder of the command, then where it was installed. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_plugin_find(const char *plugin, char *path, size_t size);

#endif
