#include "io/recognize.h"
#include "io/input.h"
#include "options/diagnostics.h"
#include "options/options.h"

#include <elf.h>
#include <limits.h>
#include <ntrace/bundle.h>
#include <ntrace/partial.h>
#include <ntrace/perf_data.h>
#include <ntrace/reader.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- kinds that a few bytes show */

/* Two or three bytes are also at the start of a trace that begins anywhere: what comes behind them decides. */

static bool is_bzip2(ntr_bytes b) {
    return b.size >= 10 && b.data[3] >= '1' && b.data[3] <= '9' &&
           (memcmp(b.data + 4, "1AY&SY", 6) == 0 || memcmp(b.data + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

/* A kernel that EFI starts has the header of PE, too. */
static bool is_pe(ntr_bytes b) {
    enum { HEADER_AT = 0x3c, IMAGE_MAGIC_AT = 0x30 };

    if (b.size < HEADER_AT + 4) return false;
    if (memcmp(b.data + IMAGE_MAGIC_AT, "RISCV\0\0\0", 8) == 0) return true;
    const size_t at = b.data[HEADER_AT] | (size_t)b.data[HEADER_AT + 1] << 8;
    return b.size >= at + 4 && memcmp(b.data + at, "PE\0\0", 4) == 0;
}

/* Returns whether the upper half of most units is zero, as in programs and in texts of European languages. */
static bool is_utf16(ntr_bytes b) {
    const size_t high = b.data[0] == 0xff; /* the byte of a unit that is its upper half */
    size_t units = 0, zeros = 0;

    for (size_t i = 2; i + 2 <= b.size; i += 2) {
        units++;
        zeros += !b.data[i + high];
    }
    return zeros * 4 >= units * 3;
}

/* Returns whether all of it is packets of Perfetto: field 1 of a message, each with its length; the last one may be
 * cut. */
static bool is_perfetto(ntr_bytes b) {
    enum { PACKET_TAG = 0x0a, LEAST = 3, LAST_SHIFT = 28 };
    size_t at = 0, packets = 0;

    for (; at < b.size && b.data[at] == PACKET_TAG; packets++) {
        uint64_t size = 0;
        uint8_t part = 0x80;

        at++;
        for (unsigned shift = 0; part & 0x80; shift += 7) {
            if (at >= b.size || shift > LAST_SHIFT) return false;
            part = b.data[at++];
            size |= (uint64_t)(part & 0x7f) << shift;
        }
        if (size >= b.size - at) return packets + 1 >= LEAST;
        at += (size_t)size;
    }
    return packets >= LEAST && at == b.size;
}

/* `next` has the path for %s, once. `holds`: what else must be so, or NULL. */
static const struct known_kind {
    uint16_t offset, size;
    const char *bytes, *what, *next;
    bool (*holds)(ntr_bytes);
} kinds[] = {
    {0, 8, "NTRACEPA", "a partial answer", "the command that wrote it reads it, and 'ntrace combine %s ...'", NULL},
    {0, 3, "\x1f\x8b\x08", "a file compressed by gzip", "'gzip -dc %s' unpacks it: ntrace reads streams packed by zstd",
     NULL},
    {0, 6,
     "\xfd"
     "7zXZ\0",
     "a file compressed by xz", "'xz -dc %s' unpacks it: ntrace reads streams packed by zstd", NULL},
    {0, 3, "BZh", "a file compressed by bzip2", "'bzip2 -dc %s' unpacks it: ntrace reads streams packed by zstd",
     is_bzip2},
    {0, 4, "\x04\x22\x4d\x18", "a file compressed by lz4",
     "'lz4 -dc %s' unpacks it: ntrace reads streams packed by zstd", NULL},
    {0, 4, "PK\3\4", "a zip archive", "'unzip %s' unpacks it", NULL},
    {257, 5, "ustar", "a tar archive", "'tar xf %s' unpacks it", NULL},
    {0, 8, "!<arch>\n", "an archive (ar): a static library or a Debian package", "", NULL},
    {0, 4, "\xd4\xc3\xb2\xa1", "a capture of network packets (pcap)",
     "write the payload that has the trace to a file; of a TCP port, 'ntrace decode -f tcp:HOST:PORT' reads it live",
     NULL},
    {0, 4, "\xa1\xb2\xc3\xd4", "a capture of network packets (pcap)", "write the payload that has the trace to a file",
     NULL},
    {0, 4, "\x0a\x0d\x0d\x0a", "a capture of network packets (pcapng)",
     "write the payload that has the trace to a file", NULL},
    {0, 8, "PERFFILE", "a perf.data of an old or foreign form",
     "'perf record' of a newer kernel writes one that is read", NULL},
    {0, 15, "SQLite format 3", "a database of SQLite", "'sqlite3 %s' reads it", NULL},
    {0, 4, "%PDF", "a PDF", "", NULL},
    {0, 4, "\x89PNG", "an image (PNG)", "", NULL},
    {0, 4, "\xd0\x0d\xfe\xed", "a device tree", "", NULL},
    {0, 6, "JiTD\0\0", "a jitdump file", "--jitdump gives the code in it to a trace", NULL},
    {0, 4, "DTiJ", "a jitdump file", "--jitdump gives the code in it to a trace", NULL},
    {0, 2, "MZ", "a kernel image or a program of Windows (PE)", "--symbols kernel=%s gives its names to a trace",
     is_pe},
    {0, 4, "\xcf\xfa\xed\xfe", "a program of macOS (Mach-O)", "", NULL},
    {0, 2, "\xff\xfe", "text (UTF-16)", "", is_utf16},
    {0, 2, "\xfe\xff", "text (UTF-16)", "", is_utf16},
    {0, 1, "\x0a", "a trace for Perfetto", "ui.perfetto.dev opens it", is_perfetto},
    {0, 4, "\xc1\x1f\xfc\xc1", "a stream of the Common Trace Format", "babeltrace2 reads the folder that has it", NULL},
    {0, 4, "\xc1\xfc\x1f\xc1", "a stream of the Common Trace Format", "babeltrace2 reads the folder that has it", NULL},
    {0, 5, "gmon\1", "counts for gprof (gmon.out)", "", NULL},
    {0, 4, "adcg", "counts for gcov (.gcda)", "", NULL},
    {0, 4, "oncg", "a graph for gcov (.gcno)", "", NULL},
    {0, 8, "\x81rforpl\xff", "counts for llvm-profdata (.profraw)", "", NULL},
    {0, 8, "\xfflprofi\x81", "counts for llvm-cov (.profdata)", "", NULL},
    {0, 4, "\xca\xfe\xba\xbe", "a class of Java or a program of macOS (Mach-O)", "", NULL},
    {6, 4, "JFIF", "an image (JPEG)", "", NULL},
    {0, 4, "RIFF", "a RIFF file (audio or video)", "", NULL},
    {0, 4, "\0asm", "a program for WebAssembly", "", NULL},
};

static bool begins(ntr_bytes b, const char *text) {
    const size_t size = strlen(text);
    return b.size >= size && memcmp(b.data, text, size) == 0;
}

static void say(struct cli_recognized *r, const char *what, const char *next, const char *path) {
    const char *mark = strstr(next, "%s");

    snprintf(r->what, sizeof r->what, "%s", what);
    if (mark)
        snprintf(r->next, sizeof r->next, "%.*s%s%s", (int)(mark - next), next, path, mark + 2);
    else
        snprintf(r->next, sizeof r->next, "%s", next);
}

static bool find_kind(struct cli_recognized *r, const char *path, ntr_bytes b) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct known_kind *k = &kinds[i];
        if (b.size < (size_t)k->offset + k->size || memcmp(b.data + k->offset, k->bytes, k->size) != 0 ||
            (k->holds && !k->holds(b)))
            continue;
        say(r, k->what, k->next, path);
        return true;
    }
    return false;
}

/* ---- ELF */

static const char *machine_name(unsigned machine) {
    switch (machine) {
    case EM_RISCV: return "RISC-V";
    case EM_X86_64: return "x86-64";
    case EM_386: return "x86";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "Arm";
    default: return "another processor";
    }
}

static bool find_elf(struct cli_recognized *r, const char *path, ntr_bytes b) {
    if (b.size < 20 || memcmp(b.data, ELFMAG, SELFMAG) != 0) return false;
    const bool big = b.data[EI_DATA] == ELFDATA2MSB;
    const unsigned type = b.data[16 + big] | (unsigned)b.data[17 - big] << 8;
    const unsigned machine = b.data[18 + big] | (unsigned)b.data[19 - big] << 8;
    const bool own = machine == EM_RISCV, program = type == ET_EXEC || type == ET_DYN;
    char what[80];

    snprintf(what, sizeof what, "%s (ELF for %s)",
             type == ET_CORE  ? "a core file"
             : type == ET_REL ? "an object file"
                              : "a program",
             machine_name(machine));
    r->is_elf = own && program;
    say(r, what,
        !own              ? "ntrace reads programs for RISC-V"
        : type == ET_CORE ? "a core file is the memory of a process and has no trace; 'ntrace run PROGRAM' makes one"
        : type == ET_REL  ? "link it first; a program that was linked is traced by 'ntrace run'"
                          : "'ntrace run %s' traces it",
        path);
    return true;
}

/* ---- text */

/* Returns whether the bytes are text, and no trace of a loop whose bytes are letters by chance: in a stream no byte has
 * the MSEO code 10, in text every fourth one has. */
static bool is_text(ntr_bytes b) {
    enum { LEAST = 16, RESERVED_SHARE = 16, BEYOND_ASCII_SHARE = 8 };
    size_t reserved = 0, beyond_ascii = 0;

    if (b.size < LEAST) return false;
    for (size_t i = 0; i < b.size; i++) {
        if ((b.data[i] < 0x20 && !strchr("\t\n\r", b.data[i])) || b.data[i] == 0x7f || !b.data[i]) return false;
        reserved += (b.data[i] & 3) == 2;
        beyond_ascii += b.data[i] >= 0x80;
    }
    return reserved * RESERVED_SHARE >= b.size && beyond_ascii * BEYOND_ASCII_SHARE <= b.size;
}

static bool has(ntr_bytes b, const char *text) {
    return memmem(b.data, b.size, text, strlen(text)) != NULL;
}

static bool is_number(ntr_bytes b) {
    size_t i = begins(b, "0x") ? 2 : 0, digits = 0;
    for (; i < b.size && strchr("0123456789abcdefABCDEF", b.data[i]) && b.data[i]; i++) digits++;
    return digits >= 4 && i < b.size && strchr(" \r\n", b.data[i]);
}

/* "#1 @0x0 ProgTraceSync SYNC=3 ...", with or without the number. */
static bool is_dump(ntr_bytes b) {
    return (begins(b, "#") && has(b, " @0x") && (has(b, "ICNT=") || has(b, "TCODE") || has(b, "SYNC="))) ||
           begins(b, "ProgTrace") || begins(b, "DirectBranch") || begins(b, "IndirectBranch") ||
           begins(b, "Ownership ");
}

static const struct text_kind {
    const char *begin, *part; /* NULL: any */
    const char *what, *next;
} texts[] = {
    {"$", "$end", "a value change dump (VCD)", "'ntrace convert --vcd-in' reads the wires of a trace in it"},
    {"ntrace-index ", NULL, "the index of a trace", "give the trace, or the bundle that it is in"},
    {"ntrace-tasks ", NULL, "the list of tasks of a bundle", "give the bundle, the folder that it is in"},
    {"ntrace-pages ", NULL, "the list of pages of a bundle", "give the bundle, the folder that it is in"},
    {"core ", "DASM(", "a log of CVA6 (RVFI)", "'ntrace encode --rvfi %s' makes a trace of it"},
    {"VERSION ", "RET ", "a log of a core (RVVI-TEXT)", "'ntrace encode --rvvi %s' makes a trace of it"},
    {"core ", ": 0x", "a log of Spike", "'ntrace encode %s' makes a trace of it"},
    {"Trace ", "[", "a log of QEMU", "'ntrace run' traces the program itself"},
    {"TN:", NULL, "coverage data (lcov)", "'genhtml %s' shows it"},
    {"{", "ntrace-bundle", "the description of a bundle", "give the bundle, the folder that it is in"},
    {"{", NULL, "text (JSON)", ""},
    {"[", NULL, "text (JSON)", ""},
    {"<!DOCTYPE html", NULL, "a page (HTML)", "a browser shows it"},
    {"<!doctype html", NULL, "a page (HTML)", "a browser shows it"},
    {"<html", NULL, "a page (HTML)", "a browser shows it"},
    {"<svg", NULL, "an image (SVG)", "a browser shows it"},
    {"<?xml", NULL, "text (XML)", ""},
    {"#!", NULL, "a script", "'ntrace run %s' traces it, if its interpreter is a program for RISC-V"},
    {":", ":", "a file of Intel HEX", "'objcopy -I ihex -O binary' makes bytes of it"},
    {"S0", "\nS", "a file of S-records", "'objcopy -I srec -O binary' makes bytes of it"},
};

static bool find_text(struct cli_recognized *r, const char *path, ntr_bytes b) {
    if (!is_text(b)) return false;
    if (is_dump(b)) {
        say(r, "the text of messages ('ntrace dump')", "'ntrace assemble %s' makes the stream of it", path);
        return true;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!begins(b, texts[i].begin) || (texts[i].part && !has(b, texts[i].part))) continue;
        say(r, texts[i].what, texts[i].next, path);
        return true;
    }
    const ntr_bytes *line = &b;
    const uint8_t *end = memchr(b.data, '\n', b.size);
    if (is_number(*line))
        say(r, "a list of numbers, perhaps program counters", "'ntrace encode' makes a trace of program counters",
            path);
    else if (end && memchr(b.data, ',', (size_t)(end - b.data)))
        say(r, "text (CSV)", "", path);
    else
        say(r, "text", "", path);
    return true;
}

/* ---- traces */

/* Returns whether the bytes read as messages of N-Trace: there are several, and none is damaged. */
static bool is_stream(ntr_bytes b) {
    enum { STREAM_MESSAGES = 4 };
    ntr_reader reader;
    ntr_message m;
    unsigned messages = 0, syncs = 0;

    if (ntr_reader_init(&reader, NULL) != NTR_OK || ntr_reader_feed(&reader, b.data, b.size, false) != NTR_OK)
        return false;
    while (ntr_reader_next(&reader, &m) == NTR_OK) {
        if (m.defect) return false;
        messages++;
        syncs += ntr_tcode_is_sync(m.tcode);
    }
    return messages >= STREAM_MESSAGES && syncs;
}

#define COMPRESSED "a file compressed by zstd"

static void find_trace(struct cli_recognized *r, const char *path, ntr_bytes b) {
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};

    if (ntr_perf_data_seen(b))
        say(r, "a perf.data", "'ntrace decode %s' reads its trace", path);
    else if (b.size >= sizeof zstd && memcmp(b.data, zstd, sizeof zstd) == 0)
        say(r, COMPRESSED, "'zstd -d %s' unpacks it", path);
    else if (is_stream(b))
        say(r, "a stream of N-Trace messages", "'ntrace decode %s -e PROGRAM' reads it", path);
    r->is_trace = r->what[0] != 0;
}

/* Finds what is no trace. */
static bool find_other(struct cli_recognized *r, const char *path, ntr_bytes b) {
    if (b.size) return find_elf(r, path, b) || find_kind(r, path, b) || find_text(r, path, b);
    say(r, "an empty file", "", path);
    return true;
}

struct cli_recognized cli_recognize_bytes(const char *path, ntr_bytes b) {
    struct cli_recognized r = {0};

    if (!find_other(&r, path, b)) find_trace(&r, path, b);
    return r;
}

static struct cli_recognized recognize_folder(const char *path) {
    struct cli_recognized r = {0};

    r.is_trace = ntr_bundle_seen(path) || ntr_perf_folder_seen(path);
    say(&r, r.is_trace ? "a bundle" : "a directory", r.is_trace ? "'ntrace decode %s' reads it" : "", path);
    return r;
}

/* A file of a bundle: the bundle is what commands take. */
static void find_bundle(struct cli_recognized *r, const char *path) {
    char folder[PATH_MAX];

    if (r->is_trace || snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder) return;
    for (unsigned up = 0; up < 2; up++) { /* BUNDLE/index, BUNDLE/images/hello */
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return;
        *slash = 0;
        if (!ntr_bundle_seen(folder)) continue;
        snprintf(r->next, sizeof r->next, "it is a file of the bundle %.200s: 'ntrace decode %.200s' reads the bundle",
                 folder, folder);
        return;
    }
}

struct cli_recognized cli_recognize(const char *path) {
    uint8_t bytes[CLI_RECOGNIZE_BYTES];
    struct cli_recognized r = {0};
    struct stat about;

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return recognize_folder(path);
    const int fd = cli_open_regular(path, UINT64_MAX);
    if (fd < 0) return r;
    const ntr_bytes beginning = {bytes, cli_read_all(fd, bytes, sizeof bytes)};
    close(fd);
    r = cli_recognize_bytes(path, beginning);
    if (*r.what) find_bundle(&r, path);
    return r;
}

/* ---- messages */

static int refuse(const char *option, const char *path, const char *expected, const struct cli_recognized *r) {
    return cli_fail("%s%s%s: expected %s, found %s%s%s", option, *option ? " " : "", path, expected, r->what,
                    *r->next ? "; " : "", r->next);
}

int cli_refuse_trace(const char *path, ntr_bytes beginning) {
    struct cli_recognized r = {0};

    return find_other(&r, path, beginning) ? refuse("", path, "a trace", &r) : CLI_OK;
}

/* Returns the file of -e that is a trace, or NULL. */
static const char *trace_among(const struct cli_list *images) {
    for (size_t i = 0; images && i < images->count; i++) {
        const struct cli_item *item = &images->items[i];
        if (strcmp(item->name, "elf") == 0 && cli_recognize(item->value).is_trace) return item->value;
    }
    return NULL;
}

int cli_refuse_operand(const char *path, const struct cli_list *images) {
    const struct cli_recognized r = cli_recognize(path);
    const char *trace = r.is_elf ? trace_among(images) : NULL;

    if (!*r.what || r.is_trace) return CLI_OK;
    if (trace)
        return cli_fail(
            "%s: expected a trace, found %s, and -e %s is %s: they are swapped; 'ntrace decode %s -e %s' reads them",
            path, r.what, trace, cli_recognize(trace).what, trace, path);
    return refuse("", path, "a trace", &r);
}

int cli_refuse_program(const char *option, const char *path, const char *error) {
    struct cli_recognized r = cli_recognize(path);

    if (!*r.what || r.is_elf) return cli_fail("%s", error);
    const bool packed = strstr(r.what, "compressed") != NULL;
    if (r.is_trace && !packed)
        snprintf(r.next, sizeof r.next, "the operand TRACE takes it, and -e the program that ran");
    return refuse(option, path, "a program (ELF for RISC-V)", &r);
}

int cli_refuse_memory(const char *option, const char *path) {
    const struct cli_recognized r = cli_recognize(path);

    return strncmp(r.what, "a core file", 11) == 0 ? refuse(option, path, "a program (ELF for RISC-V)", &r) : CLI_OK;
}

int cli_refuse_text(const char *path, const char *expected, const char *allowed) {
    const struct cli_recognized r = cli_recognize(path);

    /* The reader of lines unpacks, and names a line that is none. */
    if (!*r.what || strncmp(r.what, "text", 4) == 0 || strstr(r.what, allowed) || strstr(r.what, COMPRESSED))
        return CLI_OK;
    return refuse("", path, expected, &r);
}
