#include "io/gdb_link.h"
#include "io/output.h"
#include "io/plugin.h"
#include "options/options.h"
#include "options/diagnostics.h"
#include "text/disasm.h"

#include <ntrace/capture.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOUND_BYTES = 2 * PATH_MAX };

struct doctor_options {
    struct cli_result result;
};

#define S struct doctor_options
static const struct cli_option doctor_table[] = {
    CLI_CHOICE(0, "format", "text|json", S, result.format, CLI_FORMAT_TEXT, "output format: text (default) or JSON"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", doctor_table),
    CLI_GROUP("output", cli_path_options, struct doctor_options, result),
    {0},
};

/* A part of the system. Each function sets `found` to what is there, or to why nothing is. */
struct check {
    const char *name;
    bool (*find)(char *found, size_t size);
    bool main; /* `ntrace run PROGRAM` and the answers need it */
    const char *use, *help; /* what it is for; what to do if it is missing */
};

/* ---- parts */

static bool find_qemu(bool machine, unsigned xlen, char *found, size_t size) {
    char search[4 * PATH_MAX], plugin[PATH_MAX];
    ntr_capture_qemu qemu;

    cli_qemu_search(machine, search, sizeof search);
    if (!ntr_capture_qemu_find(&qemu, NULL, search, machine, xlen)) {
        snprintf(found, size, "%.*s", (int)strcspn(qemu.error, ";"), qemu.error);
        return false;
    }
    const bool has_plugin = cli_plugin_seen(qemu.plugin, plugin, sizeof plugin);
    const int used =
        snprintf(found, size, "%s, version %u.%u; plugin %s%s", qemu.path, qemu.major, qemu.minor,
                 has_plugin ? plugin : qemu.plugin, has_plugin ? "" : " is not beside ntrace and not installed");
    if (used > 0 && (size_t)used < size && !ntr_capture_qemu_find(&qemu, NULL, getenv("PATH"), machine, xlen))
        snprintf(found + used, size - (size_t)used, "; used because none in PATH fits: %.*s",
                 (int)strcspn(qemu.error, ";"), qemu.error);
    return has_plugin;
}

static bool find_programs_64(char *found, size_t size) {
    return find_qemu(false, 64, found, size);
}

static bool find_programs_32(char *found, size_t size) {
    return find_qemu(false, 32, found, size);
}

static bool find_machines(char *found, size_t size) {
    return find_qemu(true, 64, found, size);
}

/* Returns whether a file can be made in the folder. */
static bool can_write(const char *folder, char *found, size_t size) {
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s/ntrace-doctor.XXXXXX", folder);
    const int file = n > 0 && (size_t)n < sizeof path ? mkstemp(path) : -1;

    snprintf(found, size, "%s: files %s be written", folder, file >= 0 ? "can" : "cannot");
    if (file < 0) return false;
    close(file);
    unlink(path);
    return true;
}

static bool find_folder(char *found, size_t size) {
    char here[PATH_MAX];

    return can_write(getcwd(here, sizeof here) ? here : ".", found, size);
}

static bool find_temporary(char *found, size_t size) {
    const char *folder = getenv("TMPDIR");

    return can_write(folder && *folder ? folder : "/tmp", found, size);
}

static bool find_sysroot(char *found, size_t size) {
    const bool is_there = access(NTR_CAPTURE_SYSROOT "/lib", X_OK) == 0;

    snprintf(found, size, "%s%s", NTR_CAPTURE_SYSROOT, is_there ? "" : ": no such folder");
    return is_there;
}

static bool find_gdb(char *found, size_t size) {
    const char *gdb = cli_gdb_find(NULL);
    char command[128], version[160] = "";

    snprintf(found, size, "none that knows RISC-V in PATH");
    if (!gdb) return false;
    snprintf(command, sizeof command, "%s --version 2>/dev/null", gdb);
    FILE *answer = popen(command, "r");
    if (answer && !fgets(version, sizeof version, answer)) *version = 0;
    if (answer) pclose(answer);
    version[strcspn(version, "\n")] = 0;
    snprintf(found, size, "%s%s%s", gdb, *version ? ": " : "", version);
    return true;
}

static bool find_llvm(char *found, size_t size) {
    const char *why = "";
    struct cli_disasm *disasm = cli_disasm_open(&why);

    snprintf(found, size, "%s", disasm ? "libLLVM with RISC-V" : why);
    cli_disasm_close(disasm);
    return disasm != NULL;
}

static bool find_debug_files(char *found, size_t size) {
    const char *servers = getenv("DEBUGINFOD_URLS");
    struct stat about;
    const bool local = stat("/usr/lib/debug", &about) == 0 && S_ISDIR(about.st_mode);

    snprintf(found, size, "%s%sDEBUGINFOD_URLS%s%s", local ? "/usr/lib/debug" : "no /usr/lib/debug", "; ",
             servers && *servers ? "=" : " is not set", servers && *servers ? servers : "");
    return local || (servers && *servers);
}

static bool find_hardware(char *found, size_t size) {
    const bool coresight = access("/sys/bus/coresight/devices", R_OK) == 0,
               memory = access("/dev/mem", R_OK | W_OK) == 0;

    snprintf(found, size, "%s; %s", coresight ? "/sys/bus/coresight" : "no /sys/bus/coresight",
             memory ? "/dev/mem can be used" : "/dev/mem cannot be used");
    return coresight || memory;
}

static const struct check checks[] = {
    {"QEMU for programs", find_programs_64, true, "ntrace run PROGRAM",
     "apt install qemu-user (Debian 12); where it has no plugins: tools/fetch_qemu --user (installed in share/ntrace/tools)"},
    {"QEMU for RV32 programs", find_programs_32, false, "ntrace run PROGRAM, of 32 bits",
     "apt install qemu-user (Debian 12); where it has no plugins: tools/fetch_qemu --user (installed in share/ntrace/tools)"},
    {"QEMU for machines", find_machines, false, "ntrace run --machine",
     "apt install qemu-system-misc (Debian 13); elsewhere: tools/fetch_qemu (installed in share/ntrace/tools)"},
    {"this folder", find_folder, true, "the bundle of ntrace run", "cd to a folder of your own, or give -o BUNDLE"},
    {"temporary files", find_temporary, true, "standard input as a trace, gdb", "set TMPDIR to a folder of your own"},
    {"libraries for RISC-V", find_sysroot, false, "ntrace run of dynamic programs",
     "apt install libc6-riscv64-cross, or give --sysroot DIR"},
    {"GDB", find_gdb, false, "ntrace gdb", "apt install gdb-multiarch"},
    {"disassembler", find_llvm, false, "instructions as text: decode --show insn, view, report",
     "apt install libllvm19 (or the LLVM of this system)"},
    {"debug files", find_debug_files, false, "lines and names of programs without debug information",
     "apt install libdebuginfod1t64 (Debian 12: libdebuginfod1); export DEBUGINFOD_URLS=https://debuginfod.debian.net "
     "(Ubuntu: https://debuginfod.ubuntu.com)"},
    {"trace hardware", find_hardware, false, "ntrace capture --linux and --mem, on a board",
     "run it on the board as root; other boards: --openocd, --gdb"},
};

/* ---- output */

static void write_text(struct cli_output *out, const struct check *check, bool good, const char *found) {
    cli_output_print(out, "%-8s %-23s ", good ? "ok" : check->main ? "MISSING" : "missing", check->name);
    cli_output_text(out, found);
    cli_output_text(out, "\n");
    if (!good) cli_output_print(out, "%-32s for: %s\n%-32s %s\n", "", check->use, "", check->help);
}

static void write_json(struct cli_output *out, const struct check *check, bool good, const char *found, bool first) {
    cli_output_print(out, "%s\n{\"name\":\"%s\",\"ok\":%s,\"required\":%s,\"found\":", first ? "" : ",", check->name,
                     good ? "true" : "false", check->main ? "true" : "false");
    cli_output_json(out, found);
    cli_output_print(out, ",\"use\":\"%s\"", check->use);
    if (!good) cli_output_print(out, ",\"help\":\"%s\"", check->help);
    cli_output_text(out, "}");
}

static int doctor_run(const void *options, char **operands) {
    const struct doctor_options *o = options;
    const bool json = o->result.format != CLI_FORMAT_TEXT;
    struct cli_output out;
    char found[FOUND_BYTES];
    bool works = true;

    (void)operands;
    if (cli_output_open(&out, o->result.path) != CLI_OK) return CLI_FAILED;
    if (json) cli_output_text(&out, "{\"format\":\"ntrace-doctor\",\"version\":1,\"checks\":[");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const bool good = checks[i].find(found, sizeof found);
        works &= good || !checks[i].main;
        if (json)
            write_json(&out, &checks[i], good, found, i == 0);
        else
            write_text(&out, &checks[i], good, found);
    }
    if (json)
        cli_output_print(&out, "\n],\"works\":%s}\n", works ? "true" : "false");
    else
        cli_output_print(&out, "%s\n",
                         works ? "programs can be traced; next: ntrace run ./PROGRAM"
                               : "programs cannot be traced here; traces from elsewhere can be read");
    return cli_output_close(&out, works ? CLI_OK : CLI_DEFECTS);
}

const struct cli_command cli_doctor = {
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .groups = groups,
    .size = sizeof(struct doctor_options),
    .run = doctor_run,
    .about =
        "Says which of the programs that ntrace works with are here: which QEMU is used and why no other, its\n"
        "version and plugin, GDB, the disassembler, libraries and debug files; and for each that is missing, what\n"
        "it is for and what to install. Nothing is changed. The exit status is 0 if a program can be traced and its\n"
        "trace read, else 1.",
    .examples = "  ntrace doctor\n"
                "  ntrace doctor --format json",
};
