#include "commands/profile/answers.h"
#include "commands/profile/output.h"
#include "commands/shared/machine_run.h"
#include "options/diagnostics.h"

#define S struct profile_options
static const struct cli_option profile_table[] = {
    CLI_CHOICE(0, "by",
               "function|line|instruction|hart|context|image|process|thread|mode|interrupt|data|syscall|boot-phase", S,
               by, NTR_PROFILE_FUNCTION, "what a row stands for (default function)"),
    CLI_CHOICE(
        0, "sort", "self|total|calls|ticks|total-ticks", S, sort, NTR_PROFILE_KEY_SELF,
        "sort rows by this number; self (default) and total are instructions, ticks and total-ticks are time, if the "
        "trace has timestamps"),
    CLI_STRING(0, "callers", "FUNCTION", S, callers, "print the functions that called FUNCTION"),
    CLI_STRING(0, "callees", "FUNCTION", S, callees, "print the functions that FUNCTION called"),
    CLI_NUMBER(0, "top", "N", S, top, 0, INT64_MAX, -1,
               "print only the first N rows (default: 40 with --format text, otherwise all; --annotate: 10 functions)"),
    {
        .kind = CLI_KIND_LIST,
        .argument = CLI_ARGUMENT_OPTIONAL,
        .name = "annotate",
        .value = "FUNCTION",
        .member = offsetof(S, annotate),
        .help = "print source and disassembly with counts and branch outcomes of FUNCTION (repeatable; default: the "
                "functions "
                "with the most instructions)",
    },
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", profile_table),
    CLI_GROUP("output", cli_result_options, struct profile_options, result),
    CLI_GROUP("trace", cli_analysis_options, struct profile_options, analysis),
    CLI_GROUP("window", cli_selection_options, struct profile_options, analysis.selection),
    CLI_GROUP("program", cli_image_options, struct profile_options, analysis.images),
    CLI_GROUP("stream", cli_stream_options, struct profile_options, analysis.stream),
    {0},
};

static unsigned needs(const struct profile_options *o) {
    if (o->annotate.count) return NTR_NEEDS_TALLY;
    return o->by == NTR_PROFILE_FUNCTION || o->by == NTR_PROFILE_IMAGE ? NTR_NEEDS_TREE : NTR_NEEDS_TALLY;
}

/* Returns whether the tally must attribute time to rows. A call tree does this itself. */
static bool wants_time(const struct profile_options *o) {
    return !(needs(o) & NTR_NEEDS_TREE) && !o->annotate.count;
}

static int check_options(const struct profile_options *o) {
    bool by_function = o->by == NTR_PROFILE_FUNCTION;

    if (o->annotate.count && (!by_function || o->sort != NTR_PROFILE_KEY_SELF))
        return cli_fail("--annotate cannot be combined with --by and --sort");
    if (profile_has_relatives(o) && (!by_function || o->annotate.count))
        return cli_fail("--callers and --callees cannot be combined with --by and --annotate");
    return CLI_OK;
}

/* Profiles of what an operating system executes. */
static int run_machine(const struct profile_options *o, const char *path) {
    struct cli_analysis a;
    ntr_machine *machine;
    const struct cli_machine_options options = {.analysis = o->analysis, .result = o->result};
    int status = cli_machine_decode(&a, path, &options, false, &machine);

    if (status != CLI_FAILED && !o->analysis.partial) status = cli_profile_machine(&a, o, machine, status);
    ntr_machine_free(machine);
    cli_analysis_close(&a);
    return status;
}

/* The last words of --by have rows of other kinds. */
enum { BY_DATA = NTR_PROFILE_INTERRUPT + 1, BY_SYSCALL, BY_BOOT_PHASE };

static int run_data(const struct profile_options *o, const char *path) {
    if (o->sort != NTR_PROFILE_KEY_SELF) return cli_fail("--by data cannot be combined with --sort");
    return cli_profile_data(path, &o->analysis, &o->result, o->top);
}

static int run_other(const struct profile_options *o, const char *path) {
    const struct cli_machine_options machine = {.analysis = o->analysis, .result = o->result, .top = o->top};

    if (o->by == BY_DATA) return run_data(o, path);
    if (o->sort != NTR_PROFILE_KEY_SELF)
        return cli_fail("--by %s cannot be combined with --sort", o->by == BY_SYSCALL ? "syscall" : "boot-phase");
    return (o->by == BY_SYSCALL ? cli_profile_syscalls : cli_profile_boot)(&machine, path);
}

static int profile_run(const void *options, char **operands) {
    const struct profile_options *o = options;
    struct cli_analysis a;

    if (check_options(o) != CLI_OK) return CLI_FAILED;
    if (o->by >= BY_DATA) return run_other(o, operands[0]);
    if (o->by >= NTR_PROFILE_PROCESS) return run_machine(o, operands[0]);
    int status = cli_analysis_open(&a, operands[0], &o->analysis);
    if (status == CLI_OK) status = cli_analysis_need(&a, needs(o));
    if (status == CLI_OK && o->result.format == CLI_FORMAT_JSON) status = cli_analysis_rate(&a);
    a.keep_time = wants_time(o);
    if (status == CLI_OK) status = cli_analysis_run(&a, NULL, NULL);
    if (status != CLI_FAILED && !o->analysis.partial) status = cli_profile_answer(&a, o, status);
    cli_analysis_close(&a);
    return status;
}

const struct cli_command cli_profile = {
    .operands = "TRACE",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .size = sizeof(struct profile_options),
    .run = profile_run,
    .next = "profile --annotate",
    .about =
        "Counts the executed instructions. Every instruction is counted; nothing is sampled. 'self' is the\n"
        "number of instructions in the code of the row itself, 'total' includes the functions it called (a\n"
        "recursive function counts once), 'calls' is how often the function was entered. If the trace has\n"
        "timestamps, 'ticks' is the time.\n"
        "\n"
        "--by image gives the totals of each program file and library: 'total' includes what it called in others,\n"
        "'calls' is how often it was entered from others.\n"
        "\n"
        "--by process, thread, mode and interrupt are for traces of whole machines (docs/machines.md). An interrupt's\n"
        "instructions are those from its entry to its return.\n"
        "\n"
        "--by data counts loads and stores of a trace with data messages (run --data) by the symbol that contains\n"
        "their address; where there is none, by page of 4 KiB.\n"
        "\n"
        "--by syscall counts the system calls, interrupts and exceptions of an operating system by name: how often,\n"
        "the instructions between entry and return, and the time. A trace has neither the number of a system call\n"
        "nor the cause of a trap: names come from the functions of the kernel that ran (docs/machines.md). Other\n"
        "programs than Linux show the function that handles a trap. 'instructions' are those of the thread itself,\n"
        "including traps inside; 'ticks' is the whole time, in which other threads may have run.\n"
        "\n"
        "--by boot-phase shows where the instructions of a boot went: by phase, by initcall of the Linux kernel,\n"
        "and by process. A phase lasts until the next one begins, on any hart. An initcall includes the interrupts\n"
        "in it. Processes have names if the bundle has them (docs/machines.md), otherwise their context.\n"
        "\n"
        "--callers and --callees print the functions that called FUNCTION, and those that it called. 'calls' is\n"
        "the number of calls between both. For a caller, 'self' and 'total' are the instructions of FUNCTION when\n"
        "it was called from there; for a callee, those of the callee when it was called by FUNCTION.\n"
        "\n"
        "--annotate prints functions instruction by instruction below their source lines, with the execution\n"
        "count of each instruction and, for conditional branches, how often they were taken and not taken.\n"
        "Instructions that were not executed are included.\n"
        "\n"
        "Gaps in the trace are reported on standard error. Instructions executed in a gap are not counted.",
    .examples = "  ntrace profile hello.ntrace\n"
                "  ntrace profile --by line --top 20 trace.nex -e firmware.elf --src-bits 2\n"
                "  ntrace profile --annotate=main hello.ntrace\n"
                "  ntrace profile --callers malloc --callees malloc hello.ntrace\n"
                "  ntrace profile --by syscall boot.ntrace\n"
                "  ntrace profile --format csv -o profile.csv hello.ntrace",
};
