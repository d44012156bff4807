#include "commands/run/crash.h"
#include "io/replay_input.h"
#include "options/diagnostics.h"
#include "text/insn_line.h"
#include "text/symbol_text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A long trace is not read again for its end. */
enum { STORY_FRAMES = 16, STORY_BYTES = 64 << 20, STORY_INSTRUCTIONS = 1000000000, ECALL_BYTE = 0x73 };

static const struct signal_name {
    int number;
    bool fault; /* an instruction of the program causes it */
    const char *name;
} signals[] = {
    {SIGSEGV, true, "SIGSEGV"},  {SIGBUS, true, "SIGBUS"},    {SIGILL, true, "SIGILL"},    {SIGFPE, true, "SIGFPE"},
    {SIGTRAP, true, "SIGTRAP"},  {SIGABRT, true, "SIGABRT"},  {SIGSYS, true, "SIGSYS"},    {SIGINT, false, "SIGINT"},
    {SIGTERM, false, "SIGTERM"}, {SIGKILL, false, "SIGKILL"}, {SIGALRM, false, "SIGALRM"}, {SIGHUP, false, "SIGHUP"},
    {SIGPIPE, false, "SIGPIPE"}, {SIGQUIT, false, "SIGQUIT"}, {SIGXCPU, false, "SIGXCPU"}, {SIGXFSZ, false, "SIGXFSZ"},
};

static const struct signal_name *signal_of(int number) {
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i].number == number) return &signals[i];
    return NULL;
}

static bool is_fault(int number) {
    const struct signal_name *found = signal_of(number);

    return found && found->fault;
}

/* Writes "SIGSEGV (Segmentation fault)". */
static void put_signal(int number, char *text, size_t size) {
    const struct signal_name *found = signal_of(number);

    if (found)
        snprintf(text, size, "%s (%s)", found->name, strsignal(number));
    else
        snprintf(text, size, "signal %d (%s)", number, strsignal(number));
}

static ntr_place place_of(const ntr_replay_hart *hart, uint64_t address) {
    return ntr_place_at(&hart->context, hart->offset, address);
}

/* Returns whether the hart ended behind an ECALL: it waits, or its thread has ended. */
static bool is_behind_ecall(const struct cli_replay *replay, const ntr_replay_hart *hart) {
    uint8_t bytes[4];

    return ntr_program_read(replay->trace.program, place_of(hart, hart->address - sizeof bytes), bytes, sizeof bytes) ==
               sizeof bytes &&
           bytes[0] == ECALL_BYTE && !bytes[1] && !bytes[2] && !bytes[3];
}

/* Finds the hart that the signal stopped: the last one, unless that waited and another one did not. */
static bool find_hart(struct cli_replay *replay, uint16_t *src, ntr_replay_hart *hart) {
    size_t count;
    const uint16_t *all = ntr_replay_harts(replay->replay, &count);
    ntr_replay_hart one;

    *src = ntr_replay_current(replay->replay);
    if (!count || ntr_replay_hart_at(replay->replay, *src, hart) != NTR_OK || !hart->address_known) return false;
    for (size_t i = 0; i < count && is_behind_ecall(replay, hart); i++)
        if (ntr_replay_hart_at(replay->replay, all[i], &one) == NTR_OK && one.address_known &&
            !is_behind_ecall(replay, &one)) {
            *hart = one;
            *src = all[i];
        }
    return true;
}

/* Finds the last instruction that was executed. */
static bool find_last(struct cli_replay *replay, uint64_t total, uint16_t *src, ntr_replay_hart *hart) {
    if (!total || ntr_replay_go(replay->replay, total - 1) != NTR_OK) return false;
    *src = ntr_replay_current(replay->replay);
    return ntr_replay_hart_at(replay->replay, *src, hart) == NTR_OK && hart->address_known;
}

/* Writes ", FILE:LINE" of the frame, or nothing. */
static void put_line(char *text, size_t size, const char *before, const ntr_frame *frame) {
    *text = 0;
    if (frame && frame->file && frame->line) snprintf(text, size, "%s%s:%" PRIu32, before, frame->file, frame->line);
}

/* Writes ": lw a5, 0(a5)", or with the opcode if there is no disassembler. */
static void put_instruction(const struct cli_replay *replay, const ntr_replay_hart *hart, char *text, size_t size) {
    const ntr_place place = place_of(hart, hart->address);
    struct cli_insn_bytes bytes = {.address = hart->address, .isa = ntr_program_isa(replay->trace.program, place)};
    struct cli_insn_words words;
    ntr_insn insn;
    const char *why;

    snprintf(text, size, "; no code is known there");
    if (ntr_program_insn(replay->trace.program, place, &insn) != NTR_OK) return;
    bytes.size = (uint8_t)ntr_program_read(replay->trace.program, place, bytes.bytes, insn.size);
    bytes.decoded = &insn;
    struct cli_disasm *disasm = cli_disasm_open(&why);
    cli_insn_words(disasm, &bytes, &words);
    snprintf(text, size, ": %s", *words.text ? words.text : words.opcode);
    cli_disasm_close(disasm);
}

static void write_frames(const ntr_frame *frames, size_t count, unsigned *number) {
    char line[600];

    for (size_t i = 0; i < count && *number < STORY_FRAMES; i++) {
        put_line(line, sizeof line, " ", &frames[i]);
        cli_note("  #%u %s%s", (*number)++, frames[i].function ? frames[i].function : "?", line);
    }
}

static void write_stack(const struct cli_replay *replay, const ntr_replay_hart *hart) {
    uint32_t caller = hart->frame;
    uint64_t address = hart->address;
    unsigned number = 0;
    ntr_stack_frame frame;
    ntr_frame frames[NTR_FRAMES_MAX];

    for (;;) {
        const size_t count = ntr_debug_info_frames(replay->debug, place_of(hart, address), frames, NTR_FRAMES_MAX);
        write_frames(frames, count, &number);
        if (number >= STORY_FRAMES || !ntr_replay_frame(replay->replay, caller, &frame, &caller) || !caller) return;
        address = frame.return_to - 1;
    }
}

static void write_story(struct cli_replay *replay, const char *name) {
    char symbol[CLI_SYMBOL_MAX + 1], line[600], instruction[200], thread[40] = "";
    ntr_frame frames[NTR_FRAMES_MAX];
    ntr_replay_hart hart;
    uint64_t total;
    size_t harts;
    uint16_t src;

    bool reached = ntr_replay_total(replay->replay, &total) == NTR_OK && ntr_replay_go(replay->replay, total) == NTR_OK;
    const bool at_fault = reached && find_hart(replay, &src, &hart);
    if (!at_fault) reached = reached && find_last(replay, total, &src, &hart); /* a jump to where no code is */
    if (!reached) {
        cli_note("%s", name);
        return;
    }
    ntr_replay_harts(replay->replay, &harts);
    if (harts > 1) snprintf(thread, sizeof thread, " in source %u", src);
    const size_t count = ntr_debug_info_frames(replay->debug, place_of(&hart, hart.address), frames, NTR_FRAMES_MAX);
    *cli_put_symbol(symbol, " <", ">", replay->trace.program, place_of(&hart, hart.address)) = 0;
    put_line(line, sizeof line, ", ", count ? &frames[0] : NULL);
    put_instruction(replay, &hart, instruction, sizeof instruction);
    cli_note("%s%s %s 0x%" PRIx64 "%s%s%s", name, thread, at_fault ? "at" : "after", hart.address, symbol, line,
             instruction);
    write_stack(replay, &hart);
}

void cli_run_crash(const ntr_capture_result *result) {
    static const struct cli_replay_options options; /* a bundle says everything itself */
    struct cli_replay replay;
    char name[80];

    if (!result->signal) return;
    put_signal(result->signal, name, sizeof name);
    if (!is_fault(result->signal) || result->bytes > STORY_BYTES || result->instructions > STORY_INSTRUCTIONS ||
        !result->instructions || cli_replay_open(&replay, result->bundle, &options) != CLI_OK) {
        cli_note("%s", name);
        return;
    }
    write_story(&replay, name);
    cli_replay_close(&replay);
}
