#include "commands/shared/run_machine.h"
#include "io/plugin.h"
#include "options/diagnostics.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MACHINE_HARTS = 512, ENCODER_ROWS = 65 };

const struct cli_option *machine_rows(void) {
    static const struct cli_option rows[] = {
        CLI_STRING(0, "machine", "NAME", struct machine_options, name,
                   "trace a machine of QEMU 10 or later: virt, spike, sifive_u, ...; the operand is its firmware"),
        CLI_STRING(0, "kernel", "FILE", struct machine_options, kernel, "kernel that the firmware starts"),
        CLI_STRING(0, "initrd", "FILE", struct machine_options, initrd, "initial file system of the kernel"),
        CLI_STRING(0, "append", "TEXT", struct machine_options, append, "command line of the kernel"),
        CLI_LIST(
            0, "files", "DIR|CPIO|IMAGE|ELF", struct machine_options, files,
            "programs and libraries of the guest, which name its code (repeatable): a folder, a cpio archive, also compressed "
            "(the initrd is searched by default), an image of ext2, ext3 or ext4 or of a disk with such partitions, or an ELF file of its firmware"),
        CLI_NUMBER(0, "harts", "N", struct machine_options, harts, 1, MACHINE_HARTS, 0,
                   "number of harts (default: that of the machine, mostly 1)"),
        CLI_STRING(0, "memory", "SIZE", struct machine_options, memory,
                   "memory, for example 512M (default: that of the machine)"),
        CLI_STRING(0, "for", "N|TIME", struct machine_options, limit,
                   "end after about N instructions of all harts, or after a time: 500ms, 10s, 2min"),
        CLI_STRING(
            0, "clock", "instructions|time", struct machine_options, clock,
            "timestamps: a tick is an instruction retired by the hart, or one of the machine's clock (CSR time)"),
        CLI_FLAG(0, "repeatable", struct machine_options, repeatable,
                 "execute the same instructions in every run; one hart, without input"),
        {0},
    };
    return rows;
}

const struct cli_option *machine_board_rows(void) {
    static const char *const names[] = {"machine", "kernel", "initrd", "append", "harts", "memory"};
    static const struct cli_option own[] = {
        CLI_NUMBER(0, "xlen", "N", struct machine_options, xlen, 32, 64, 0,
                   "width of addresses in bits (default: that of the firmware or kernel, else 64)"),
        CLI_STRING(0, "qemu", "FILE", struct machine_options, qemu,
                   "QEMU to start (default: qemu-system-riscv64 or -riscv32)"),
    };
    enum { NAME_ROWS = sizeof names / sizeof names[0], OWN_ROWS = sizeof own / sizeof own[0] };
    static struct cli_option rows[NAME_ROWS + OWN_ROWS + 1];
    size_t count = 0;

    for (const struct cli_option *row = machine_rows(); row->kind; row++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strcmp(row->name, names[i]) == 0) rows[count++] = *row;
    for (size_t i = 0; i < OWN_ROWS; i++) rows[count++] = own[i];
    return rows;
}

const char *machine_option_given(const struct machine_options *o) {
    const struct {
        const char *name;
        bool given;
    } options[] = {
        {"kernel", o->kernel}, {"initrd", o->initrd},        {"append", o->append}, {"files", o->files.count},
        {"harts", o->harts},   {"memory", o->memory},        {"for", o->limit},     {"xlen", o->xlen},
        {"clock", o->clock},   {"repeatable", o->repeatable}};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].given) return options[i].name;
    return NULL;
}

/* ---- contexts -----------------------------------------------------------------------------------------------------
 */

const struct cli_option *machine_encoder_rows(void) {
    static struct cli_option rows[ENCODER_ROWS];
    const struct cli_option *encoder = cli_encoder_rows();

    for (size_t i = 0; i < ENCODER_ROWS && encoder[i].kind; i++) {
        rows[i] = encoder[i];
        if (strcmp(rows[i].name, "context") == 0) {
            rows[i].value = "off|scontext|hcontext|virtual|satp|none";
            rows[i].help =
                "send Ownership messages, with scontext alone or with hcontext too; of machines, satp (the"
                " default): scontext stands for the address space, and hcontext for the guest of a hypervisor;"
                " none: no Ownership messages";
        }
    }
    return rows;
}

void machine_encoder_defaults(const struct machine_options *options, const struct cli_encoder *given,
                              ntr_encoder_config *config) {
    if (options->clock) config->params.timestamps = NTR_TIMESTAMPS_ON;
    config->ownership = NTR_OWNERSHIP_VIRTUAL;
    for (size_t i = 0; i < given->list.count; i++) {
        struct cli_item *item = &given->list.items[i];
        if (strcmp(item->name, "context") != 0 || !item->value) continue;
        if (strcmp(item->value, "satp") == 0) item->value = "virtual";
        if (strcmp(item->value, "none") == 0) item->value = "off";
    }
}

/* The last --context; NULL: there is none. */
static const char *context_of(const struct cli_encoder *given) {
    const char *found = NULL;
    for (size_t i = 0; given && i < given->list.count; i++)
        if (strcmp(given->list.items[i].name, "context") == 0) found = given->list.items[i].value;
    return found;
}

static bool is_context(const struct cli_encoder *given, const char *word) {
    const char *context = context_of(given);
    return context && strcmp(context, word) == 0;
}

int machine_system_options(const struct cli_encoder *given) {
    static const char *const words[] = {"satp", "scontext", "none", "off"};

    for (size_t i = 0; i < given->list.count; i++) {
        const struct cli_item *item = &given->list.items[i];
        bool known = false;
        if (strcmp(item->name, "context") != 0)
            return cli_fail("--%s: not allowed with --topology; the topology configures the encoders (\"set\")",
                            item->name);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            known |= item->value && strcmp(item->value, words[k]) == 0;
        if (!known)
            return cli_fail("--context: expected satp, scontext or none with --topology, found '%s'",
                            item->value ? item->value : "");
    }
    return CLI_OK;
}

/* ---- operands and limits ------------------------------------------------------------------------------------------
 */

static int set_limit(const char *text, ntr_capture_config *config) {
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {{"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};
    char *end;

    if (!text) return CLI_OK;
    errno = 0;
    uint64_t n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 0) : 0;
    if (!n || errno)
        return cli_fail("--for: expected a number of instructions or a time such as 10s, found '%s'", text);
    if (!*end) config->instructions = n;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && n <= UINT64_MAX / units[i].nanoseconds)
            config->nanoseconds = n * units[i].nanoseconds;
    if (config->instructions || config->nanoseconds) return CLI_OK;
    return cli_fail("--for: expected a number of instructions or a time such as 10s, found '%s'", text);
}

/* The number of harts with which QEMU starts the machine. */
static unsigned default_harts(const char *name) {
    static const struct {
        const char *name;
        unsigned harts;
    } machines[] = {{"sifive_u", 2}, {"microchip-icicle-kit", 5}};

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strncmp(name, machines[i].name, strlen(machines[i].name)) == 0) return machines[i].harts;
    return 1;
}

/* Options of QEMU that the trace cannot do without, or that would make it wrong. */
static int check_option(unsigned harts, const char *option, const char *value) {
    static const struct {
        const char *name, *why;
    } refused[] = {{"-d", "ntrace reads the log of QEMU itself"},
                   {"-D", "ntrace reads the log of QEMU itself"},
                   {"-smp", "use --harts"},
                   {"-M", "use --machine"},
                   {"-machine", "use --machine"},
                   {"-S", "the machine would not start"},
                   {"-daemonize", "QEMU would leave ntrace"}};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(option, refused[i].name) == 0) return cli_fail("QEMU's option %s: %s", option, refused[i].why);
    if (harts < 2) return CLI_OK;
    if (strcmp(option, "-icount") == 0 || (strcmp(option, "-accel") == 0 && value && strstr(value, "thread=single")))
        return cli_fail(
            "QEMU's option %s: expected --harts 1, found %u harts; with this option QEMU would report them under wrong numbers",
            option, harts);
    return CLI_OK;
}

static int take_operands(char **operands, struct machine *machine, ntr_capture_config *config) {
    size_t count = 0;

    if (operands[0] && operands[0][0] != '-') {
        machine->config.firmware = *operands++;
        if (operands[0] && strcmp(operands[0], "--") != 0)
            return cli_fail("%s: options of ntrace go before the firmware, options of QEMU after --", operands[0]);
    }
    if (operands[0] && strcmp(operands[0], "--") == 0) operands++;
    while (operands[count]) count++;
    machine->qemu_options = calloc(count + 1, sizeof *machine->qemu_options);
    if (!machine->qemu_options) return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++) {
        machine->qemu_options[i] = operands[i];
        if (check_option(machine->config.harts, operands[i], operands[i + 1]) != CLI_OK) return CLI_FAILED;
    }
    config->qemu_options = machine->qemu_options;
    config->qemu_option_count = count;
    return CLI_OK;
}

/* XLEN of an ELF file, or of a kernel image (its "machine" in the PE header); 0: not known. */
static unsigned xlen_of(const char *path) {
    unsigned char head[4096] = {0};
    FILE *file = path ? fopen(path, "rb") : NULL;

    if (!file) return 0;
    size_t size = fread(head, 1, sizeof head, file);
    fclose(file);
    if (size < 64) return 0;
    if (memcmp(head, "\177ELF", 4) == 0) return head[4] == 1 ? 32 : 64;
    unsigned pe = head[0x3c] | (unsigned)head[0x3d] << 8;
    bool is_pe = memcmp(head, "MZ", 2) == 0 && pe + 6 < size && memcmp(head + pe, "PE", 2) == 0;
    return is_pe && head[pe + 4] == 0x32 && head[pe + 5] == 0x50 ? 32 : 0;
}

/* XLEN of the machines of a QEMU, by its name; 0: not known. */
static unsigned xlen_of_qemu(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;

    if (!name) return 0;
    return strstr(name, "riscv32") ? 32 : strstr(name, "riscv64") ? 64 : 0;
}

static int check_file(const char *path) {
    struct stat about;

    if (!path) return CLI_OK;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0) return cli_fail("%s: %s", path, strerror(errno));
    return S_ISDIR(about.st_mode) ? cli_fail("%s: %s", path, strerror(EISDIR)) : CLI_OK;
}

/* QEMU takes a program for another processor as plain bytes, and executes them. */
static int check_program(const char *path, unsigned xlen) {
    unsigned char head[20] = {0};
    FILE *file = path ? fopen(path, "rb") : NULL;

    if (!file) return CLI_OK;
    const bool is_elf = fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "\177ELF", 4) == 0;
    fclose(file);
    if (is_elf && (head[18] | head[19] << 8) != EM_RISCV) return cli_fail("%s: not a program for RISC-V", path);
    const unsigned own = xlen_of(path);
    if (own && own != xlen) return cli_fail("%s: of %u bits, and the machine has %u", path, own, xlen);
    return CLI_OK;
}

/* What capture.json says about the run. */
static void describe(struct machine *machine) {
    const ntr_capture_machine_config *config = &machine->config;
    const char *words[] = {config->name, config->firmware, config->kernel, config->initrd, config->append};
    size_t count = 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i]) machine->command[count++] = words[i];
}

static int take_files(const struct cli_list *list, struct machine *machine) {
    machine->files = calloc(list->count + 1, sizeof *machine->files);
    if (!machine->files) return cli_fail("out of memory");
    for (size_t i = 0; i < list->count; i++) machine->files[i] = list->items[i].value;
    machine->config.files = machine->files;
    machine->config.file_count = list->count;
    return CLI_OK;
}

/* --xlen is an option of the encoder (run) or of the machine (board); 0: not given. */
static unsigned xlen_given(const struct machine_options *options, const struct cli_encoder *encoder) {
    const char *text = encoder ? cli_encoder_value(encoder, "xlen") : NULL;
    uint64_t value;

    return text && cli_parse_number(text, &value) && value <= UINT_MAX ? (unsigned)value : (unsigned)options->xlen;
}

int machine_configure(const struct machine_options *options, const struct cli_encoder *encoder, char **operands,
                      const char *qemu, struct machine *machine, ntr_capture_config *config) {
    ntr_capture_machine_config *is = &machine->config;

    ntr_capture_machine_config_init(is);
    is->name = options->name;
    is->kernel = options->kernel;
    is->initrd = options->initrd;
    is->append = options->append;
    is->memory = options->memory;
    is->harts = options->harts ? (unsigned)options->harts : default_harts(options->name);
    is->repeatable = options->repeatable;
    is->no_contexts = is_context(encoder, "scontext"); /* QEMU's harts have none: it is 0 */
    is->clock = options->clock && strcmp(options->clock, "time") == 0;
    if (options->clock && !is->clock && strcmp(options->clock, "instructions") != 0)
        return cli_fail("--clock: expected instructions or time, found '%s'", options->clock);
    is->no_ownership = is_context(encoder, "none") || is_context(encoder, "off");
    if (is->repeatable && is->harts > 1)
        return cli_fail("--repeatable: only with one hart; this machine has %u", is->harts);
    if (take_operands(operands, machine, config) != CLI_OK || set_limit(options->limit, config) != CLI_OK)
        return CLI_FAILED;
    if (check_file(is->firmware) != CLI_OK || check_file(is->kernel) != CLI_OK || check_file(is->initrd) != CLI_OK)
        return CLI_FAILED;
    if (take_files(&options->files, machine) != CLI_OK) return CLI_FAILED;
    const unsigned own = xlen_of_qemu(qemu), given = xlen_given(options, encoder);
    if (own && given && given != own) return cli_fail("--xlen %u: %s has machines of %u bits", given, qemu, own);
    is->xlen = given ? given : own ? own : xlen_of(is->firmware);
    if (!is->xlen) is->xlen = xlen_of(is->kernel);
    if (!is->xlen) is->xlen = 64;
    if (is->xlen != 32 && is->xlen != 64) return cli_fail("--xlen: expected 32 or 64");
    if (check_program(is->firmware, is->xlen) != CLI_OK || check_program(is->kernel, is->xlen) != CLI_OK)
        return CLI_FAILED;
    describe(machine);
    config->machine = is;
    config->command = machine->command;
    char search[4 * PATH_MAX];
    cli_qemu_search(true, search, sizeof search);
    return ntr_capture_qemu_find(&machine->qemu, qemu, search, true, machine->config.xlen)
               ? CLI_OK
               : cli_fail("%s", machine->qemu.error);
}

void machine_release(struct machine *machine) {
    free(machine->qemu_options);
    free(machine->files);
}
