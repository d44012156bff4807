/* Which QEMU runs a machine, and the plugin that goes with its version. */
#include "commands/run_machine.h"
#include "options/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_program(const char *path) {
    return access(path, X_OK) == 0;
}

/* Looks for `name` in the folders of PATH. */
static bool in_path(const char *name, char *path, size_t size) {
    const char *at = getenv("PATH");

    while (at && *at) {
        size_t length = strcspn(at, ":");
        int n = snprintf(path, size, "%.*s/%s", (int)length, at, name);
        if (n > 0 && (size_t)n < size && is_program(path)) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* What tools/fetch_qemu has unpacked. */
static bool in_cache(const char *name, char *path, size_t size) {
    const char *debian = getenv("NTRACE_DEBIAN"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = debian && *debian ? snprintf(path, size, "%s/qemu/run/%s", debian, name)
            : cache && *cache ? snprintf(path, size, "%s/ntrace/debian/qemu/run/%s", cache, name)
                              : snprintf(path, size, "%s/.cache/ntrace/debian/qemu/run/%s", home ? home : "", name);
    return n > 0 && (size_t)n < size && is_program(path);
}

/* The plugin for this version of QEMU, or NULL. */
static const char *plugin_for(const char *qemu, unsigned *major, unsigned *minor) {
    *major = *minor = 0;
    if (!ntr_capture_qemu_version(qemu, major, minor)) return NULL;
    if ((*major == 9 && *minor == 2) || (*major == 10 && *minor == 0)) return "ntrace-qemu-machine-4.so";
    if (*major > 11 || (*major == 11 && *minor >= 1)) return "ntrace-qemu-machine-7.so";
    return NULL;
}

int machine_find_qemu(struct machine *machine, const char *given) {
    unsigned major = 0, minor = 0;
    char name[32], found[PATH_MAX] = "";

    snprintf(name, sizeof name, "qemu-system-riscv%u", machine->config.xlen);
    if (given) {
        int n = snprintf(machine->qemu, sizeof machine->qemu, "%s", given);
        if (n < 0 || (size_t)n >= sizeof machine->qemu) return cli_fail("--qemu: the name is too long");
        machine->plugin = plugin_for(given, &major, &minor);
        if (machine->plugin) return CLI_OK;
        if (!major) return cli_fail("%s: cannot be executed, or is no QEMU", given);
        return cli_fail("%s: version %u.%u; --machine needs QEMU 10.0, or 11.1 or later", given, major, minor);
    }
    if (in_path(name, machine->qemu, sizeof machine->qemu)) {
        snprintf(found, sizeof found, "%s", machine->qemu);
        machine->plugin = plugin_for(machine->qemu, &major, &minor);
        if (machine->plugin) return CLI_OK;
    }
    if (in_cache(name, machine->qemu, sizeof machine->qemu)) {
        machine->plugin = plugin_for(machine->qemu, &major, &minor);
        if (machine->plugin) return CLI_OK;
    }
    return cli_fail(
        "--machine needs %s of QEMU 10.0, or 11.1 or later%s%s: install it, give --qemu FILE, or fetch it with"
        " tools/fetch_qemu, which changes nothing on this system",
        name, *found ? "; too old or not supported: " : "", found);
}
