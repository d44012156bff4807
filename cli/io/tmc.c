#include "io/tmc.h"
#include "io/input.h"
#include "options/diagnostics.h"

#include <ntrace/tmc.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- registers */

enum { IN_RSZ, IN_STS, IN_RWP, IN_DBA, IN_AXICTL, IN_REGION_AT, IN_RWPHI, IN_DBALO, IN_DBAHI, IN_REGISTERS };
enum { REGISTERS_TEXT_MAX = 1 << 20, TMC_WORD_BYTES = 4 };

static const char *const names[IN_REGISTERS] = {"rsz",    "sts",   "rwp",   "dba",  "axictl",
                                                "region", "rwphi", "dbalo", "dbahi"};

struct registers {
    bool has[IN_REGISTERS];
    uint64_t value[IN_REGISTERS];
};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Finds `"name": N`, `name N`, `name = N` or `path/name:N`, in either case of letters. */
static void find_register(struct registers *r, unsigned which, const char *text) {
    const size_t length = strlen(names[which]);

    for (const char *at = text; *at; at++) {
        if (at != text && is_word(at[-1])) continue;
        if (strncasecmp(at, names[which], length) != 0 || is_word(at[length])) continue;
        char number[32] = "";
        const char *from = at + length + strspn(at + length, "\" \t:=");
        const size_t digits = strspn(from, "0123456789abcdefABCDEFxX");
        if (from == at + length || !digits || digits >= sizeof number) continue;
        memcpy(number, from, digits);
        if (!cli_parse_number(number, &r->value[which])) continue;
        r->has[which] = true;
        return;
    }
}

static void join_halves(struct registers *r) {
    if (r->has[IN_DBALO]) {
        r->has[IN_DBA] = true;
        r->value[IN_DBA] = r->value[IN_DBALO] | (r->has[IN_DBAHI] ? r->value[IN_DBAHI] << 32 : 0);
    }
    if (r->has[IN_RWP] && r->has[IN_RWPHI] && !(r->value[IN_RWP] >> 32)) r->value[IN_RWP] |= r->value[IN_RWPHI] << 32;
}

/* The folder mgmt/ of Linux has a file for each register. */
static int read_folder(struct registers *r, const char *path) {
    char file[PATH_MAX];
    struct stat about;

    for (unsigned i = 0; i < IN_REGISTERS; i++) {
        size_t size;
        const int length = snprintf(file, sizeof file, "%s/%s", path, names[i]);
        if (length < 0 || (size_t)length >= sizeof file || stat(file, &about) != 0) continue;
        char *text = cli_input_whole(file, REGISTERS_TEXT_MAX, &size);
        if (!text) return CLI_FAILED;
        text[strcspn(text, " \t\r\n")] = 0;
        r->has[i] = cli_parse_number(text, &r->value[i]);
        const bool fine = r->has[i];
        if (!fine) cli_note("%s: expected a number, found '%s'", file, text);
        free(text);
        if (!fine) return CLI_FAILED;
    }
    return CLI_OK;
}

static int read_registers(struct registers *r, const char *path) {
    struct stat about;
    size_t size;

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        if (read_folder(r, path) != CLI_OK) return CLI_FAILED;
    } else {
        char *text = cli_input_whole(path, REGISTERS_TEXT_MAX, &size);
        if (!text) return CLI_FAILED;
        for (unsigned i = 0; i < IN_REGISTERS; i++) find_register(r, i, text);
        free(text);
    }
    join_halves(r);
    if (r->has[IN_RWP]) return CLI_OK;
    return cli_fail("%s: expected the registers rsz, sts, rwp and dba of a TMC, found no rwp", path);
}

/* FILE.json beside the trace, or with the trace's ending replaced. */
static bool find_beside(const char *path, char *found, size_t room) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const int stem = (int)(dot && dot != path ? dot - path : (ptrdiff_t)strlen(path));
    struct stat about;

    for (int replaced = 0; replaced < 2; replaced++) {
        const int length =
            replaced ? snprintf(found, room, "%.*s.json", stem, path) : snprintf(found, room, "%s.json", path);
        if (length > 0 && (size_t)length < room && strcmp(found, path) != 0 && stat(found, &about) == 0 &&
            S_ISREG(about.st_mode) && about.st_size < REGISTERS_TEXT_MAX)
            return true;
    }
    return false;
}

bool cli_tmc_beside(const char *path) {
    char file[PATH_MAX];
    struct registers r = {0};
    size_t size;

    if (strcmp(path, "-") == 0 || !find_beside(path, file, sizeof file)) return false;
    char *text = cli_input_whole(file, REGISTERS_TEXT_MAX, &size);
    if (!text) return false;
    for (unsigned i = 0; i < IN_REGISTERS; i++) find_register(&r, i, text);
    free(text);
    join_halves(&r);
    return r.has[IN_RSZ] && r.has[IN_STS] && r.has[IN_RWP] && r.has[IN_DBA];
}

static int take_option(struct registers *r, unsigned which, const char *option, const char *text) {
    if (!text) return CLI_OK;
    if (!cli_parse_number(text, &r->value[which])) return cli_fail("--%s: expected a number, found '%s'", option, text);
    r->has[which] = true;
    return CLI_OK;
}

static int find_registers(struct registers *r, const char *path, const struct cli_tmc *options) {
    char beside[PATH_MAX];
    const char *file = options->registers;

    if (!file && !options->write_pointer && strcmp(path, "-") != 0 && find_beside(path, beside, sizeof beside)) {
        cli_note("%s: the registers are read from %s", path, beside);
        file = beside;
    }
    if (file && read_registers(r, file) != CLI_OK) return CLI_FAILED;
    if (take_option(r, IN_RWP, "ram-write-pointer", options->write_pointer) != CLI_OK ||
        take_option(r, IN_STS, "ram-status", options->status) != CLI_OK ||
        take_option(r, IN_DBA, "ram-base", options->base) != CLI_OK)
        return CLI_FAILED;
    uint64_t bytes;
    if (options->bytes) {
        if (!cli_parse_number(options->bytes, &bytes) || bytes % TMC_WORD_BYTES)
            return cli_fail("--ram-size: expected a multiple of 4, found '%s'", options->bytes);
        r->value[IN_RSZ] = bytes / TMC_WORD_BYTES;
        r->has[IN_RSZ] = true;
    }
    if (!r->has[IN_RWP])
        return cli_fail(
            "%s: --input-format tmc: where do the data end? expected --ram-write-pointer and --ram-status, or "
            "--ram-registers",
            path);
    if (!r->has[IN_STS])
        return cli_fail(
            "%s: --input-format tmc: has the buffer wrapped? expected --ram-status (STS), or --ram-registers", path);
    return CLI_OK;
}

/* ---- memory */

struct memory_image {
    const char *path;
    const uint8_t *bytes;
    size_t size;
    uint64_t region; /* address of the first byte */
    FILE *out;
    bool outside; /* reported */
};

static const uint8_t *at(struct memory_image *image, uint64_t address, uint64_t size) {
    const uint64_t offset = address - image->region;

    if (address >= image->region && offset <= image->size && size <= image->size - offset) return image->bytes + offset;
    cli_note("%s: expected the memory at 0x%" PRIx64 " of %" PRIu64 " bytes, found that of 0x%" PRIx64 " to 0x%" PRIx64,
             image->path, address, size, image->region, image->region + image->size);
    image->outside = true;
    return NULL;
}

static ntr_status read_page(void *user, uint64_t address, uint8_t *bytes, size_t size) {
    const uint8_t *from = at(user, address, size);

    if (from) memcpy(bytes, from, size);
    return from ? NTR_OK : NTR_E_RANGE;
}

static ntr_status write_part(void *user, uint64_t address, uint64_t size) {
    struct memory_image *image = user;
    const uint8_t *from = at(image, address, size);

    if (!from) return NTR_E_RANGE;
    return fwrite(from, 1, (size_t)size, image->out) == size ? NTR_OK : NTR_E_IO;
}

static int write_parts(struct memory_image *image, const struct registers *r, bool *wrapped) {
    ntr_tmc_memory memory;
    ntr_tmc_error error;

    ntr_tmc_memory_init(&memory);
    memory.base = r->has[IN_DBA] ? r->value[IN_DBA] : 0;
    memory.bytes = r->has[IN_RSZ] ? r->value[IN_RSZ] * TMC_WORD_BYTES : image->size;
    memory.rwp = r->value[IN_RWP];
    memory.full = *wrapped = r->value[IN_STS] & NTR_TMC_STS_FULL;
    memory.scattered = r->has[IN_AXICTL] && r->value[IN_AXICTL] & NTR_TMC_AXICTL_SCATTER;
    image->region = r->has[IN_REGION_AT] ? r->value[IN_REGION_AT] : memory.base;
    ntr_status status = ntr_tmc_parts(&memory, read_page, write_part, image, &error);
    if (status == NTR_OK && fflush(image->out)) status = NTR_E_IO;
    if (status == NTR_OK) return CLI_OK;
    if (image->outside) return CLI_FAILED;
    if (status != NTR_E_RANGE || !error.what)
        return cli_fail("%s: %s", image->path,
                        status == NTR_E_IO ? "the temporary file cannot be written" : ntr_status_text(status));
    if (error.address)
        return cli_fail("%s: %s: at 0x%" PRIx64 ": expected %s, found 0x%" PRIx64, image->path, error.what,
                        error.address, error.expected, error.found);
    return cli_fail("%s: %s: expected %s, found 0x%" PRIx64, image->path, error.what, error.expected, error.found);
}

/* What the status says of the bytes. */
static void report_status(const char *path, uint64_t sts) {
    if (sts & NTR_TMC_STS_MEM_ERR)
        cli_doubt("%s: STS 0x%" PRIx64
                  ": an access to memory failed (MemErr); bytes of the trace may be missing or old",
                  path, sts);
    if (!(sts & NTR_TMC_STS_READY))
        cli_doubt("%s: STS 0x%" PRIx64
                  ": the TMC was not stopped (TMCReady is 0); memory and registers may be of different "
                  "times",
                  path, sts);
}

int cli_tmc_open(const char *path, const struct cli_tmc *options, int *fd, bool *wrapped) {
    struct registers r = {0};
    struct memory_image image = {.path = path};

    if (find_registers(&r, path, options) != CLI_OK) return CLI_FAILED;
    char *bytes = cli_input_limited(path, CLI_LIMIT_MEMORY_IMAGE, &image.size);
    if (!bytes) return CLI_FAILED;
    image.bytes = (const uint8_t *)bytes;
    image.out = tmpfile();
    report_status(path, r.value[IN_STS]);
    int status = image.out ? write_parts(&image, &r, wrapped) : cli_fail("%s: cannot make a temporary file", path);
    free(bytes);
    if (status == CLI_OK && (*fd = cli_file_of(image.out)) < 0)
        status = cli_fail("%s: the temporary file cannot be read", path);
    if (image.out) fclose(image.out);
    return status;
}
