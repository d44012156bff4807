#include "io/atomic_file.h"
#include "io/debug_files.h"
#include "io/images.h"
#include "io/input.h"
#include "io/module.h"
#include "io/recognize.h"
#include "options/diagnostics.h"

#include <ntrace/isa.h>
#include <ntrace/program_files.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_image_options[] = {
    CLI_LIST(
        'e', "elf", "FILE[@ADDR][:BINDING...]", struct cli_images, list,
        "program image (repeatable); @ADDR: load address (PIE, shared library). Bindings restrict where the image "
        "is used: :ctx=N (scontext), :hctx=N (hcontext), :prv=U|S|M, :v=0|1, :from=N and :until=N (byte offsets "
        "in the stream); :isa=STRING; :jvt=ADDR (the table of CM.JT or EXEC.IT). :segment=N: where segments overlap (overlays), program header N, from 0, is used. A kernel module (.ko) is linked for where it was loaded, by a copy of /proc/kallsyms (--symbols)"),
    CLI_LIST(0, "raw", "FILE@ADDR[:BINDING...]", struct cli_images, list,
             "raw memory image at address ADDR (repeatable)"),
    CLI_LIST(0, "jitdump", "FILE[:BINDING...]", struct cli_images, list,
             "JIT-compiled code and its symbols in the format of Linux perf, jit-PID.dump (repeatable)"),
    CLI_LIST(0, "perf-map", "FILE[:BINDING...]", struct cli_images, list,
             "symbols of JIT-compiled code in the format of Linux perf, perf-PID.map (repeatable)"),
    CLI_LIST(
        0, "symbols", "NAME=FILE[@BIAS][:BINDING...]", struct cli_images, list,
        "only the symbols of FILE, for code that the trace has from elsewhere (repeatable): an ELF file, a copy of "
        "/proc/kallsyms, a System.map, a Linux kernel that is not compressed, or the module NAME (.ko); NAME is shown as the image, for "
        "example kernel=Image; @BIAS is added to all addresses"),
    CLI_LIST(
        0, "map", "PID=FILE", struct cli_images, maps.list,
        "program of process PID (repeatable): an ELF file, or a copy of /proc/PID/maps, whose files are found below "
        "--sysroot. Linux writes the number of the running thread to scontext: --threads says which are of PID"),
    CLI_STRING(0, "threads", "FILE", struct cli_images, maps.threads,
               "output of 'ps -eLo pid,tid,comm': the threads of the processes of --map, and the names of both"),
    CLI_LIST(0, "image-path", "DIR", struct cli_images, folders,
             "perf.data: folder with files that its processes had mapped, found by name and build id (repeatable)"),
    CLI_STRING(
        0, "isa", "STRING", struct cli_images, isa,
        "instruction set of code whose file does not say it, such as rv32imac_zcmp; extensions also of code whose file "
        "does not name them: zcmp, zcmt, xandesperf, xandescodense, xcvbi, xcvhwlp, xesploop, xqci, xthead and others (:isa=STRING: of one image)"),
    CLI_LIST(0, "instructions", "FILE", struct cli_images, instructions,
             "instructions that no extension of --isa has, a line for each: MASK MATCH CLASS [offset=FIELDS], such as "
             "'0x707f 0x600b branch offset=B' (repeatable)"),
    CLI_STRING(0, "sysroot", "DIR", struct cli_images, sysroot,
               "folder with the files of the system that ran, instead of / (perf.data, --map)"),
    {0},
};

/* Parts of "FILE[@ADDR][:BINDING...]". It is parsed from the end, so that paths may contain '@' and ':'. */
struct image {
    char *path; /* to be freed */
    bool has_address;
    ntr_image_options options;
};

static bool set_scontext(ntr_image_options *o, const char *text) {
    return o->has_scontext = cli_parse_number(text, &o->scontext);
}

static bool set_hcontext(ntr_image_options *o, const char *text) {
    return o->has_hcontext = cli_parse_number(text, &o->hcontext);
}

/* Sets the privilege mode. VU is :prv=U:v=1, VS is :prv=S:v=1. */
static bool set_privilege(ntr_image_options *o, const char *text) {
    static const char letters[] = "US?M";
    const char *found = *text && !text[1] && *text != '?' ? strchr(letters, *text) : NULL;

    if (found) o->prv = (uint8_t)(found - letters);
    return o->has_prv = found != NULL;
}

static bool set_virtual(ntr_image_options *o, const char *text) {
    uint64_t v = 2;

    if (!cli_parse_number(text, &v) || v > 1) return false;
    o->v = (uint8_t)v;
    return true;
}

static bool set_isa(ntr_image_options *o, const char *text) {
    return o->has_isa = ntr_isa_parse(text, &o->isa) == NTR_OK;
}

static bool set_jvt(ntr_image_options *o, const char *text) {
    return o->has_jvt = cli_parse_number(text, &o->jvt);
}

static bool set_from(ntr_image_options *o, const char *text) {
    return cli_parse_number(text, &o->from);
}

static bool set_until(ntr_image_options *o, const char *text) {
    return cli_parse_number(text, &o->until) && o->until;
}

static bool set_segment(ntr_image_options *o, const char *text) {
    uint64_t number = 0;

    o->has_segment = cli_parse_number(text, &number) && number <= UINT32_MAX;
    o->segment = (uint32_t)number;
    return o->has_segment;
}

static const struct binding {
    const char *key;
    bool (*set)(ntr_image_options *options, const char *text);
    const char *expected;
} bindings[] = {
    {":ctx=", set_scontext, "a number"},
    {":hctx=", set_hcontext, "a number"},
    {":prv=", set_privilege, "U, S or M"},
    {":v=", set_virtual, "0 or 1"},
    {":from=", set_from, "a byte offset"},
    {":until=", set_until, "a byte offset above 0"},
    {":segment=", set_segment, "the number of a program header"},
    {":isa=", set_isa, "rv32... or rv64..."},
    {":jvt=", set_jvt, "an address"},
};

static const struct binding *binding_at(const char *mark) {
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++)
        if (strncmp(mark, bindings[i].key, strlen(bindings[i].key)) == 0) return &bindings[i];
    return NULL;
}

static int bind(const struct cli_item *item, struct image *image) {
    const struct binding *b;
    char *mark;

    while ((mark = strrchr(image->path, ':')) && (b = binding_at(mark))) {
        const char *value = mark + strlen(b->key);
        if (!b->set(&image->options, value))
            return cli_fail("--%s: '%s': expected %s after '%s', found '%s'", item->name, item->value, b->expected,
                            b->key, value);
        *mark = 0;
    }
    if (image->options.v && !image->options.has_prv)
        return cli_fail("--%s: '%s': :v=1 requires :prv=U or :prv=S", item->name, item->value);
    return CLI_OK;
}

static int image_parse(const struct cli_item *item, struct image *image) {
    *image = (struct image){.path = strdup(item->value)};
    ntr_image_options_init(&image->options);
    if (!image->path) return cli_fail("out of memory");
    if (bind(item, image) != CLI_OK) return CLI_FAILED;
    char *mark = strrchr(image->path, '@');
    if (mark && cli_parse_number(mark + 1, &image->options.bias)) {
        image->has_address = true;
        *mark = 0;
    }
    if (!*image->path) return cli_fail("--%s: '%s': expected a file name", item->name, item->value);
    return CLI_OK;
}

static int report_error(const char *path, const ntr_program *program, ntr_status status) {
    const char *why = ntr_program_error(program);

    return why && *why ? cli_fail("%s", why) : cli_fail("%s: %s", path, ntr_status_text(status));
}

/* Sets *low to the lowest address in the ELF file, rounded down to a page. A loader maps it to the load address. */
static int lowest_address(const char *path, uint64_t *low) {
    ntr_program *alone = cli_program_new();
    ntr_image_info info;

    if (!alone) return cli_fail("out of memory");
    ntr_status status = ntr_program_add_elf(alone, path, NULL);
    int result = CLI_OK;
    if (status == NTR_E_FORMAT)
        result = cli_refuse_program("-e", path, ntr_program_error(alone));
    else if (status != NTR_OK)
        result = report_error(path, alone, status);
    else if (ntr_program_image(alone, 0, &info) == NTR_OK)
        *low = info.low & ~(uint64_t)0xfff;
    ntr_program_free(alone);
    return result;
}

/* The same for a file that was linked from the one at `path`: messages name that one. */
static int report_linked(const char *path, const char *linked, const ntr_program *program, ntr_status status) {
    const char *why = ntr_program_error(program);
    const size_t size = strlen(linked);

    if (!why || strncmp(why, linked, size) != 0) return report_error(path, program, status);
    return cli_fail("%s%s", path, why + size);
}

static ntr_module_place place_of(const struct image *image) {
    return (ntr_module_place){.where = image->has_address ? NTR_MODULE_ORDER : NTR_MODULE_NAMES,
                              .address = image->options.bias};
}

/* A kernel module: it is linked for where it was loaded (cli/io/module.h). Its name is that of the file. */
static int add_module(struct image *image, ntr_program *program) {
    char *module = cli_module_name(image->path), *linked = NULL;

    if (!module) return cli_fail("out of memory");
    int status = cli_module_link(image->path, module, place_of(image), program, &linked);
    image->options.bias = 0;
    image->options.name = image->path;
    const ntr_status added = status == CLI_OK ? ntr_program_add_elf(program, linked, &image->options) : NTR_OK;
    if (added != NTR_OK) status = report_linked(image->path, linked, program, added);
    free(linked);
    free(module);
    return status;
}

static int add_elf(struct image *image, ntr_program *program) {
    uint64_t low = 0;

    if (cli_module_is(image->path)) return add_module(image, program);

    if (image->has_address && lowest_address(image->path, &low) != CLI_OK) return CLI_FAILED;
    image->options.bias -= low;
    if (cli_refuse_memory("-e", image->path) != CLI_OK) return CLI_FAILED;
    ntr_status status = ntr_program_add_elf(program, image->path, &image->options);
    if (status == NTR_E_FORMAT || status == NTR_E_IO)
        return cli_refuse_program("-e", image->path, ntr_program_error(program));
    return status == NTR_OK ? CLI_OK : report_error(image->path, program, status);
}

static int add_raw(struct image *image, ntr_program *program) {
    size_t size;

    if (!image->has_address) return cli_fail("--raw: '%s': expected FILE@ADDR, found no address", image->path);
    char *bytes = cli_input_limited(image->path, CLI_LIMIT_RAW_IMAGE, &size);
    if (!bytes) return CLI_FAILED;
    ntr_status status = ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)bytes, size}, &image->options);
    free(bytes);
    return status == NTR_OK ? CLI_OK : report_error(image->path, program, status);
}

/* The time of a byte of the stream is not known here, so the code loaded last at an address is used. */
static int add_jitdump(struct image *image, ntr_program *program) {
    ntr_status status = ntr_program_add_jitdump(program, image->path, &image->options, NULL, NULL);
    return status == NTR_OK ? CLI_OK : report_error(image->path, program, status);
}

static int add_perf_map(struct image *image, ntr_program *program) {
    ntr_status status = ntr_program_add_perf_map(program, image->path, &image->options);
    return status == NTR_OK ? CLI_OK : report_error(image->path, program, status);
}

/* The symbols and the debug information of a kernel module; NAME is that of the module. */
static int add_module_symbols(struct image *image, const char *path, ntr_program *program) {
    char *linked = NULL;
    int status = cli_module_link(path, image->path, place_of(image), program, &linked);

    image->options.bias = 0;
    const ntr_status added = status == CLI_OK ? ntr_program_add_symbols(program, linked, &image->options) : NTR_OK;
    if (added != NTR_OK) status = report_linked(path, linked, program, added);
    free(linked);
    return status;
}

static int add_symbols(struct image *image, ntr_program *program) {
    char *equals = strchr(image->path, '=');

    if (!equals || equals == image->path || !equals[1])
        return cli_fail("--symbols: '%s': expected NAME=FILE, such as kernel=Image", image->path);
    *equals = 0;
    image->options.name = image->path;
    cli_input_guard_add(equals + 1);
    if (cli_module_is(equals + 1)) return add_module_symbols(image, equals + 1, program);
    ntr_status status = ntr_program_add_symbols(program, equals + 1, &image->options);
    return status == NTR_OK ? CLI_OK : report_error(equals + 1, program, status);
}

static const struct {
    const char *option;
    int (*add)(struct image *image, ntr_program *program);
} kinds[] = {
    {"elf", add_elf}, {"raw", add_raw}, {"jitdump", add_jitdump}, {"perf-map", add_perf_map}, {"symbols", add_symbols}};

/* Returns whether an image is a kernel module. */
static bool is_module(const struct cli_item *item, const struct image *image) {
    const char *equals = strcmp(item->name, "symbols") == 0 ? strchr(image->path, '=') : NULL;

    if (strcmp(item->name, "elf") != 0 && !equals) return false;
    return cli_module_is(equals ? equals + 1 : image->path);
}

/* Adds an image, if it is a module or if it is none. */
static int add_image(const struct cli_item *item, ntr_program *program, bool modules) {
    struct image image;
    int status = image_parse(item, &image);

    if (status == CLI_OK && is_module(item, &image) != modules) {
        free(image.path);
        return CLI_OK;
    }
    if (status == CLI_OK) cli_input_guard_add(image.path);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == CLI_OK; i++)
        if (strcmp(item->name, kinds[i].option) == 0) status = kinds[i].add(&image, program);
    free(image.path);
    return status;
}

static int load_instructions(const struct cli_images *images, ntr_program *program) {
    for (size_t i = 0; i < images->instructions.count; i++) {
        const char *path = images->instructions.items[i].value;
        cli_input_guard_add(path);
        const ntr_status status = ntr_program_add_instructions(program, path);
        if (status != NTR_OK) return report_error(path, program, status);
    }
    return CLI_OK;
}

/* Memory and names without a file that says the width of the code are placed by the options. */
static void take_width(const struct cli_images *images, const char *xlen, ntr_program *program) {
    unsigned isa = xlen && strcmp(xlen, "32") == 0 ? NTR_ISA_RV32 : 0;

    for (size_t i = 0; i < images->list.count; i++)
        if (strcmp(images->list.items[i].name, "elf") == 0) return;
    if (images->isa && ntr_isa_parse(images->isa, &isa) != NTR_OK) return; /* cli_images_isa reports it */
    if (isa & NTR_ISA_RV32 && !ntr_program_xlen(program)) ntr_program_set_isa(program, isa);
}

int cli_images_load(const struct cli_images *images, const char *xlen, ntr_program *program) {
    if (load_instructions(images, program) != CLI_OK) return CLI_FAILED;
    take_width(images, xlen, program);
    if (cli_maps_load(&images->maps, images->sysroot, program) != CLI_OK) return CLI_FAILED;
    for (unsigned modules = 0; modules < 2;
         modules++) /* modules last: their addresses come from the symbols of other files */
        for (size_t i = 0; i < images->list.count; i++) {
            int status = add_image(&images->list.items[i], program, modules != 0);
            if (status != CLI_OK) return status;
        }
    return CLI_OK;
}

/* The branches that a vendor's compiler uses without being asked. */
static unsigned isa_of_dialect(const ntr_dialect *dialect) {
    return dialect && strcmp(dialect->name, "andes") == 0 ? NTR_ISA_XANDESPERF : 0;
}

int cli_images_isa(const struct cli_images *images, const char *xlen, const ntr_dialect *dialect,
                   ntr_program *program) {
    const unsigned own = ntr_program_xlen(program), more = isa_of_dialect(dialect);
    unsigned isa = own == 32 || (!own && xlen && strcmp(xlen, "32") == 0) ? NTR_ISA_RV32 : 0;

    if (images->isa && ntr_isa_parse(images->isa, &isa) != NTR_OK)
        return cli_fail("--isa: expected rv32... or rv64..., such as rv32imac_zcmp, found '%s'", images->isa);
    if (!images->isa && !more && !(xlen && !own)) return CLI_OK;
    const ntr_status status = ntr_program_set_isa(program, isa | more);
    if (status == NTR_OK) return CLI_OK;
    if (status == NTR_E_RANGE)
        return cli_fail("%s: expected addresses of 32 bits of code and of names; give the program first, or raw images "
                        ":isa=rv32...",
                        images->isa ? "--isa" : "--xlen");
    return cli_fail("--isa: expected rv%u..., which the program is, found '%s'", own, images->isa);
}
