/* Where QEMU and its capture plugins are. */
#ifndef CLI_IO_PLUGIN_H
#define CLI_IO_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

/* Where QEMU is looked for: the folders of PATH, then that of tools/fetch_qemu (of machines, or of programs). Returns
 * `search`. */
const char *cli_qemu_search(bool machine, char *search, size_t size);

/* Looks for a plugin in the folder of the command, then where it was installed. Returns whether it is there. */
bool cli_plugin_seen(const char *plugin, char *path, size_t size);

/* The same. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int cli_plugin_find(const char *plugin, char *path, size_t size);

#endif
