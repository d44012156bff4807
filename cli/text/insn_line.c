#include "text/insn_line.h"
#include "text/symbol_text.h"

#include <ntrace/bytes.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FILE_SHOWN 200

size_t cli_pc_line(void *user, const struct cli_insn *insn, char *out) {
    (void)user;
    char *at = cli_put_hex(cli_put_text(out, "0x"), insn->retired.address);
    *at++ = '\n';
    return (size_t)(at - out);
}

/* Description of one instruction. */
struct description {
    struct cli_insn_words words;
    char symbol[CLI_SYMBOL_MAX + 1];
    const char *file; /* NULL: not known */
    uint32_t line;
};

/* Formats the opcode with the most significant byte first; memory holds the least significant byte first. */
static void format_opcode(const struct cli_insn_bytes *insn, struct cli_insn_words *words) {
    char *at = words->opcode;

    for (unsigned i = insn->size; i-- > 0;) at += snprintf(at, 3, "%02x", insn->bytes[i]);
}

/* Replaces the target of a direct branch or jump, which LLVM prints relative to the instruction, by its address. */
static void replace_target(const struct cli_insn_bytes *insn, char *text) {
    const ntr_insn *decoded = insn->decoded;
    char *operand = decoded ? strrchr(text, ' ') : NULL;

    if (!operand) return;
    if (decoded->table_jump || (decoded->flow != NTR_FLOW_BRANCH && decoded->flow != NTR_FLOW_DIRECT_JUMP &&
                                decoded->flow != NTR_FLOW_DIRECT_CALL))
        return;
    snprintf(operand + 1, 24, "0x%" PRIx64, decoded->target);
}

void cli_insn_words(struct cli_disasm *disasm, const struct cli_insn_bytes *insn, struct cli_insn_words *words) {
    enum { TARGET_SIZE = 24 };

    format_opcode(insn, words);
    words->text[0] = 0;
    if (!disasm) return;
    snprintf(words->text, sizeof words->text - TARGET_SIZE, "%s",
             cli_disasm_text(disasm, insn->bytes, insn->size, insn->isa));
    if (words->text[0])
        replace_target(insn, words->text);
    else
        snprintf(words->text, sizeof words->text, ".insn 0x%s", words->opcode);
}

static void find_line(const struct cli_insn_lines *lines, const struct cli_insn *insn, struct description *d) {
    const uint64_t address = insn->retired.address;
    ntr_frame frame;

    d->file = NULL;
    if (!lines->source ||
        ntr_debug_info_frames(lines->source, ntr_place_at(&insn->span->context, insn->span->offset, address), &frame,
                              1) == 0)
        return;
    d->file = frame.file;
    d->line = frame.line;
}

static struct cli_insn_bytes insn_bytes(const struct cli_insn *insn) {
    const ntr_instruction *i = &insn->retired;
    struct cli_insn_bytes b = {.address = i->address, .size = i->insn.size, .decoded = &i->insn};

    b.isa = ntr_program_isa(insn->program, ntr_place_at(&insn->span->context, insn->span->offset, i->address));
    if (b.size > sizeof i->bits)
        ntr_program_read(insn->program, ntr_place_at(&insn->span->context, insn->span->offset, i->address), b.bytes,
                         b.size);
    else
        for (unsigned k = 0; k < b.size; k++) b.bytes[k] = (uint8_t)(i->bits >> 8 * k);
    return b;
}

static void describe(const struct cli_insn_lines *lines, const struct cli_insn *insn, struct description *description) {
    const struct cli_insn_bytes bytes = insn_bytes(insn);

    cli_insn_words(lines->disasm, &bytes, &description->words);
    *cli_put_symbol(description->symbol, "", "", insn->program, ntr_event_place(insn->span, bytes.address)) = 0;
    find_line(lines, insn, description);
}

/* Returns the last FILE_SHOWN characters of a path. */
static const char *shown_file(const char *file) {
    size_t size = strlen(file);

    return size > FILE_SHOWN ? file + size - FILE_SHOWN : file;
}

size_t cli_insn_text(void *user, const struct cli_insn *insn, char *out) {
    const struct cli_insn_lines *lines = user;
    struct description f;
    int used = 0;

    describe(lines, insn, &f);
    int mnemonic = (int)strcspn(f.words.text, " ");
    const char *operands = f.words.text + mnemonic + (f.words.text[mnemonic] == ' ');
    if (lines->by_source) used += snprintf(out, 16, "%u: ", insn->span->src);
    used += snprintf(out + used, 400, "0x%" PRIx64 "  %-8s  %-8.*s %-24s", insn->retired.address, f.words.opcode,
                     mnemonic, f.words.text, operands);
    if (f.symbol[0]) used += snprintf(out + used, CLI_SYMBOL_MAX + 8, "  <%s>", f.symbol);
    const int before = used;
    if (f.file) used += snprintf(out + used, FILE_SHOWN + 16, "  %s:%" PRIu32, shown_file(f.file), f.line);
    for (int i = before; i < used; i += (int)ntr_text_step(out + i))
        if (out[i] == '\n' || out[i] == '\t' || !ntr_utf8_length(out + i, 4)) out[i] = '?';
    while (used && out[used - 1] == ' ') used--;
    out[used++] = '\n';
    return (size_t)used;
}

/* "U", "S", "M", "VU", "VS"; NULL: not known. */
static const char *prv_name(const ntr_context *context) {
    static const char *const names[2][4] = {{"U", "S", NULL, "M"}, {"VU", "VS", NULL, NULL}};
    return context->prv < 4 ? names[context->v & 1][context->prv] : NULL;
}

/* The members of the context that are known. */
static char *put_context(char *at, const ntr_context *context) {
    const char *prv = prv_name(context);

    if (prv) at += snprintf(at, 16, ",\"prv\":\"%s\"", prv);
    if (context->has_scontext) at += snprintf(at, 48, ",\"scontext\":\"0x%" PRIx64 "\"", context->scontext);
    if (context->has_hcontext) at += snprintf(at, 48, ",\"hcontext\":\"0x%" PRIx64 "\"", context->hcontext);
    return at;
}

size_t cli_insn_json(void *user, const struct cli_insn *insn, char *out) {
    struct description f;
    char *at = out;

    describe(user, insn, &f);
    at += snprintf(at, 128, "{\"src\":%u,\"address\":\"0x%" PRIx64 "\",\"opcode\":\"%s\"", insn->span->src,
                   insn->retired.address, f.words.opcode);
    at = put_context(at, &insn->span->context);
    if (f.words.text[0]) at = cli_put_json(cli_put_text(at, ",\"text\":"), f.words.text);
    if (f.symbol[0]) at = cli_put_json(cli_put_text(at, ",\"symbol\":"), f.symbol);
    if (f.file) {
        at = cli_put_json(cli_put_text(at, ",\"file\":"), shown_file(f.file));
        at = cli_put_decimal(cli_put_text(at, ",\"line\":"), f.line);
    }
    return (size_t)(cli_put_text(at, "}\n") - out);
}

const char cli_insn_csv_heading[] = "src,address,opcode,text,symbol,file,line\n";

size_t cli_insn_csv(void *user, const struct cli_insn *insn, char *out) {
    struct description f;
    char *at = out;

    describe(user, insn, &f);
    at += snprintf(at, 128, "%u,0x%" PRIx64 ",%s,", insn->span->src, insn->retired.address, f.words.opcode);
    at = cli_put_text(cli_put_csv(at, f.words.text), ",");
    at = cli_put_text(cli_put_csv(at, f.symbol), ",");
    if (f.file) at = cli_put_csv(at, shown_file(f.file));
    at = cli_put_text(at, ",");
    if (f.file) at = cli_put_decimal(at, f.line);
    return (size_t)(cli_put_text(at, "\n") - out);
}

size_t cli_pc_json(void *user, const struct cli_insn *insn, char *out) {
    (void)user;
    return (size_t)snprintf(out, 64, "{\"src\":%u,\"address\":\"0x%" PRIx64 "\"}\n", insn->span->src,
                            insn->retired.address);
}

size_t cli_pc_csv(void *user, const struct cli_insn *insn, char *out) {
    (void)user;
    return (size_t)snprintf(out, 64, "%u,0x%" PRIx64 "\n", insn->span->src, insn->retired.address);
}
