#include "base/macros.h"
#include "target/target.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct script_writer {
    const ntr_script_options *options;
    ntr_target *target;
    trace_component *sink;
    ntr_status *status;
} script_writer;

typedef struct script_language {
    const char *kind;
    void (*begin)(const script_writer *writer);  /* procedures, and the beginning of the start */
    void (*step)(const script_writer *writer, const bring_up_step *step);
    void (*run)(const script_writer *writer);    /* the end of the start, and the time in between */
    void (*read)(const script_writer *writer);   /* stop, registers and words, to the file */
} script_language;

extern const script_language script_openocd;
extern const script_language script_gdb;

void __attribute__((format(printf, 2, 3))) script_put(const script_writer *writer, const char *format, ...);

enum { SCRIPT_LINE = 4096, WORDS_NAME_MAX = 512 };

static const script_language *const languages[] = {&script_openocd, &script_gdb};

void script_put(const script_writer *writer, const char *format, ...) {
    char line[SCRIPT_LINE];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof line)
        *writer->status = NTR_E_RANGE; /* a line that is cut would be another command */
    else
        writer->options->write(writer->options->user, line);
}

/* Address of a register. */
static uint64_t script_address(const trace_component *component, ntr_register reg, unsigned number) {
    const ntr_register_info *info = ntr_register_get(reg);
    return component->base + info->offset + number * info->stride;
}

/* Bits of a register that a write of 1 clears or triggers. */
static uint32_t script_action_bits(ntr_register reg) {
    uint32_t mask = 0;
    for (unsigned bits = 0; bits < NTR_BITS_COUNT; bits++) {
        const ntr_bits_info *info = ntr_bits_get(bits);
        if (info->reg == reg && (info->access == NTR_ACCESS_RW1C || info->access == NTR_ACCESS_W1))
            mask |= ntr_bits_mask(info);
    }
    return mask;
}

/* Returns whether the sink is a RAM sink and the only sink. */
static bool script_one_sink(const script_writer *writer) {
    const ntr_system *system = writer->target->system;
    if (!target_is_ram(writer->sink)) return false;
    for (size_t i = 0; i < system->count; i++) {
        if (!system->components[i]->output_count && system->components[i] != writer->sink) return false;
    }
    return true;
}

/* Name of the file of words. */
static const char *script_words(const script_writer *writer) {
    return writer->options->words ? writer->options->words : "words.txt";
}

/* Calls `put` for each register whose value is in the file: those of components that the sink's trace passes. */
static void script_registers(const script_writer *writer, void (*put)(const script_writer *writer, uint64_t address)) {
    const ntr_system *system = writer->target->system;
    for (size_t i = 0; i < system->count; i++) {
        const trace_component *one = system->components[i];
        if (one != writer->sink && !ntr_system_leads(system, i, writer->sink->index)) continue;
        for (unsigned reg = 0; reg < NTR_REGISTER_COUNT; reg++) {
            const ntr_register_info *info = ntr_register_get(reg);
            unsigned number;
            if (info->count > 1 || reg == NTR_REGISTER_RAM_DATA || reg == NTR_REGISTER_TMC_RRD) continue;
            if (ntr_register_at(one->ops->kind, info->offset, &number) == reg)
                put(writer, script_address(one, (ntr_register)reg, 0));
        }
    }
}

typedef struct stepper {
    const script_writer *writer;
    const script_language *language;
} stepper;

static ntr_status take(void *user, const bring_up_step *step) {
    const stepper *to = user;
    to->language->step(to->writer, step);
    return NTR_OK;
}

/* The name is in commands of two languages and of a shell. */
static bool is_plain(const char *name) {
    const size_t size = strlen(name);
    return size && size <= WORDS_NAME_MAX && name[0] != '-' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/") == size;
}

ntr_status ntr_target_script(ntr_target *target, const ntr_script_options *options) {
    ntr_status status = NTR_OK;
    const script_writer writer = {options, target, target_component(target, options->sink), &status};
    if (!writer.sink || !is_plain(script_words(&writer))) return NTR_E_INVALID;
    if (!target_is_ram(writer.sink) && !tmc_is_sink(writer.sink)) return NTR_E_INVALID;
    if (tmc_is_sink(writer.sink)) TRY(target_check_etr(target, writer.sink));
    for (size_t i = 0; i < NTR_COUNT(languages); i++) {
        if (strcmp(languages[i]->kind, options->kind) != 0) continue;
        stepper to = {&writer, languages[i]};
        const bring_up_taker taker = {take, &to};
        languages[i]->begin(&writer);
        bring_up_start(target->system, &taker);
        languages[i]->run(&writer);
        languages[i]->read(&writer);
        return status;
    }
    return NTR_E_NAME;
}

/* ---- A capture as commands of GDB 12 or later: gdb-multiarch -batch -ex "target remote HOST:PORT" -x THIS
 *
 * Each access is an access to an unsigned int: one packet for 4 bytes. GDB has no exceptions in its own language; a
 * command that does not exist ends a script that has failed, after everything was disabled. */

static const char definitions[] =
    "set pagination off\nset confirm off\nset height 0\nset width 0\nset mem inaccessible-by-default off\n"
    "define ntr_await\n"
    "  set $ntr_i = 0\n"
    "  set $ntr_v = (*(unsigned int *)$arg0 & $arg1) >> $arg2\n"
    "  while $ntr_v != $arg3 && $ntr_i < 200\n"
    "    shell sleep 0.005\n"
    "    set $ntr_i = $ntr_i + 1\n"
    "    set $ntr_v = (*(unsigned int *)$arg0 & $arg1) >> $arg2\n"
    "  end\n"
    "  if $ntr_v != $arg3\n"
    "    printf \"the field at 0x%lx (mask 0x%x) is %u, expected %u\\n\", (unsigned long)$arg0, $arg1, $ntr_v, $arg3\n"
    "    ntr_stop\n"
    "    ntr_the_capture_has_failed\n"
    "  end\n"
    "end\n"
    "define ntr_put\n"
    "  set $ntr_w = *(unsigned int *)$arg0 & ~($arg1 | $arg3)\n"
    "  set {unsigned int}$arg0 = $ntr_w | (($arg4 << $arg2) & $arg1)\n"
    "  set $ntr_v = (*(unsigned int *)$arg0 & $arg1) >> $arg2\n"
    "end\n"
    "define ntr_set\n"
    "  ntr_put $arg0 $arg1 $arg2 $arg3 $arg4\n"
    "  if $ntr_v != $arg4\n"
    "    printf \"the field at 0x%lx (mask 0x%x) rejects the value %u (reads back %u)\\n\", (unsigned long)$arg0, $arg1, $arg4, $ntr_v\n"
    "    ntr_stop\n"
    "    ntr_the_capture_has_failed\n"
    "  end\n"
    "end\n"
    "define ntr_disable\n"
    "  if (*(unsigned int *)$arg0 & $arg1) != 0\n"
    "    if $arg2 != 0\n"
    "      ntr_put $arg0 $arg2 0 $arg5 0\n"
    "    end\n"
    "    ntr_put $arg0 $arg3 0 $arg5 0\n"
    "    set $ntr_i = 0\n"
    "    while (*(unsigned int *)$arg0 & $arg4) == 0 && $ntr_i < $ntr_patience\n"
    "      shell sleep 0.005\n"
    "      set $ntr_i = $ntr_i + 1\n"
    "    end\n"
    "    if $ntr_i == $ntr_patience\n"
    "      printf \"the component at 0x%lx does not become empty\\n\", (unsigned long)$arg0\n"
    "    end\n"
    "  end\n"
    "end\n"
    "define ntr_poll\n" /* address mask value: waits without an end of the script */
    "  set $ntr_i = 0\n"
    "  while (*(unsigned int *)$arg0 & $arg1) != $arg2 && $ntr_i < $ntr_patience\n"
    "    shell sleep 0.005\n"
    "    set $ntr_i = $ntr_i + 1\n"
    "  end\n"
    "  if $ntr_i == $ntr_patience\n"
    "    printf \"the component at 0x%lx does not stop\\n\", (unsigned long)$arg0 & ~0xfff\n"
    "  end\n"
    "end\n"
    "define ntr_flush\n" /* base, its claim tag, is it a sink */
    "  if (*(unsigned int *)($arg0 + 0xfa4) & $arg1) != 0 && (*(unsigned int *)($arg0 + 0x20) & 1) != 0\n"
    "    set {unsigned int}($arg0 + 0x304) = *(unsigned int *)($arg0 + 0x304) | 0x1000\n"
    "    set {unsigned int}($arg0 + 0x304) = *(unsigned int *)($arg0 + 0x304) | 0x40\n"
    "    ntr_poll ($arg0+0x304) 0x40 0\n"
    "    ntr_poll ($arg0+0x00c) 4 4\n"
    "    if $arg2 == 0\n"
    "      set {unsigned int}($arg0 + 0x20) = 0\n"
    "    end\n"
    "  end\n"
    "end\n"
    "define ntr_close\n" /* base, its claim tag */
    "  if (*(unsigned int *)($arg0 + 0xfa4) & $arg1) != 0\n"
    "    set {unsigned int}$arg0 = *(unsigned int *)$arg0 & ~0xff\n"
    "  end\n"
    "end\n"
    "define ntr_release\n" /* base, its claim tag, is it a TMC */
    "  if (*(unsigned int *)($arg0 + 0xfa4) & $arg1) != 0\n"
    "    if $arg2 != 0\n"
    "      set {unsigned int}($arg0 + 0x20) = 0\n"
    "    end\n"
    "    set {unsigned int}($arg0 + 0xfa4) = $arg1\n"
    "    set {unsigned int}($arg0 + 0xfb0) = 0\n"
    "  end\n"
    "end\n";

static void gdb_put_disable(const script_writer *to, const trace_component *one) {
    const common_bits *bits = component_bits(one->ops->kind);
    const uint32_t claim = coresight_claim(one->system);
    if (one->ops->kind == NTR_COMPONENT_TMC) {
        script_put(to, "  ntr_flush 0x%" PRIx64 " %" PRIu32 " %d\n", one->base, claim, tmc_is_sink(one));
        return;
    }
    if (is_coresight(one)) {
        script_put(to, "  ntr_close 0x%" PRIx64 " %" PRIu32 "\n", one->base, claim);
        return;
    }
    const uint32_t tracing = one->ops->kind == NTR_COMPONENT_ENCODER ? NTR_TE_INST_TRACING_MASK : 0;
    script_put(to,
               "  ntr_disable 0x%" PRIx64 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 "\n",
               script_address(one, bits->control, 0), ntr_bits_mask(ntr_bits_get(bits->active)), tracing,
               ntr_bits_mask(ntr_bits_get(bits->enable)), ntr_bits_mask(ntr_bits_get(bits->empty)),
               script_action_bits(bits->control));
}

static void gdb_begin(const script_writer *to) {
    const ntr_system *system = to->target->system;
    script_put(
        to,
        "# Captures a trace; made by ntrace. Run: gdb-multiarch -batch -ex 'set architecture riscv:rv64' -ex 'target "
        "remote HOST:PORT' -x THIS\n# Then: ntrace capture --words %s -t TOPOLOGY -e PROGRAM -o BUNDLE\n",
        script_words(to));
    to->options->write(to->options->user, definitions);
    script_put(to, "set $ntr_patience = 200\ndefine ntr_stop\n");
    if (script_one_sink(to)) /* a sink that has stopped takes nothing more */
        script_put(to, "  if (*(unsigned int *)0x%" PRIx64 " & 0x%" PRIx32 ") == 0\n    set $ntr_patience = 4\n  end\n",
                   to->sink->base + NTR_RAM_CONTROL, NTR_RAM_ENABLE_MASK);
    for (size_t i = system->count; i-- > 0;) gdb_put_disable(to, system->downstream[i]);
    script_put(to, "end\n");
}

static void put_field(const script_writer *to, const char *name, const bring_up_step *gdb_step) {
    const ntr_bits_info *info = ntr_bits_get(gdb_step->bits);
    script_put(to, "ntr_%s 0x%" PRIx64 " 0x%" PRIx32 " %u ", name,
               script_address(gdb_step->component, gdb_step->reg, gdb_step->number), ntr_bits_mask(info), info->low);
}

/* The values are tried in order, until one reads back. */
static void put_try(const script_writer *to, const bring_up_step *one) {
    for (size_t i = 0; i < one->count; i++) {
        if (i) script_put(to, "if $ntr_v != %" PRIu32 "\n", one->values[i - 1]);
        put_field(to, "put", one);
        script_put(to, "0x%" PRIx32 " %" PRIu32 "\n", script_action_bits(one->reg), one->values[i]);
    }
    for (size_t i = 1; i < one->count; i++) script_put(to, "end\n");
}

static void gdb_step(const script_writer *to, const bring_up_step *one) {
    const uint64_t address = script_address(one->component, one->reg, one->number);
    switch (one->kind) {
    case STEP_WRITE: script_put(to, "set {unsigned int}0x%" PRIx64 " = 0x%" PRIx32 "\n", address, one->value); break;
    case STEP_STORE:
        script_put(to, "set {unsigned int}0x%" PRIx64 " = 0x%" PRIx32 "\n", one->address, one->value);
        break;
    case STEP_COPY:
        script_put(to, "set {unsigned int}0x%" PRIx64 " = *(unsigned int *)0x%" PRIx64 "\n", address,
                   script_address(one->component, one->from, 0));
        break;
    case STEP_AWAIT:
    case STEP_EXPECT:
        script_put(to, "# %s: %s\n", one->component->name, ntr_bits_get(one->bits)->name);
        put_field(to, "await", one);
        script_put(to, "%" PRIu32 "\n", one->value);
        break;
    case STEP_SET:
        put_field(to, "set", one);
        script_put(to, "0x%" PRIx32 " %" PRIu32 "\n", script_action_bits(one->reg), one->value);
        break;
    default: put_try(to, one); break;
    }
}

/* The shell's parent is GDB: an interrupt halts the hart. */
static void gdb_run(const script_writer *to) {
    const uint64_t seconds = to->options->run_ms / 1000, rest = to->options->run_ms % 1000;
    const bool resumes = to->options->resume || !to->options->run_ms;
    if (resumes && to->options->run_ms)
        script_put(to, "shell (sleep %" PRIu64 ".%03" PRIu64 "; kill -INT $PPID) >/dev/null 2>&1 &\n", seconds, rest);
    if (resumes)
        script_put(to, "# runs until a breakpoint or an interrupt\ncontinue\n");
    else
        script_put(to, "shell sleep %" PRIu64 ".%03" PRIu64 "\n", seconds, rest);
    script_put(to, "ntr_stop\n");
}

static void gdb_put_register(const script_writer *to, uint64_t address) {
    script_put(to, "printf \"# r 0x%%lx 0x%%08x\\n\", (unsigned long)0x%" PRIx64 ", *(unsigned int *)0x%" PRIx64 "\n",
               address, address);
}

/* The first words: of the buffer of an ETR, tables included, or of the memory of its own. */
static void gdb_read_tmc(const script_writer *to) {
    const uint64_t base = to->sink->base;
    const bool etr = OPTION(&to->sink->options, TMC_TYPE) == TMC_ETR;
    script_put(to, "set $ntr_start = 0\nset $ntr_more = 0\nset $ntr_wp = *(unsigned int *)0x%" PRIx64 "\n",
               base + NTR_TMC_RWP);
    if (etr) {
        const option_values *o = &to->sink->options;
        uint64_t tables;
        tmc_data_page(0, OPTION(o, TMC_BYTES), 0, &tables);
        script_put(to,
                   "set $ntr_start = *(unsigned int *)0x%" PRIx64 " | (unsigned long)*(unsigned int *)0x%" PRIx64
                   " << 32\nset $ntr_wp = $ntr_wp | (unsigned long)*(unsigned int *)0x%" PRIx64 " << 32\n",
                   base + NTR_TMC_DBALO, base + NTR_TMC_DBAHI, base + NTR_TMC_RWPHI);
        script_put(to, "if (*(unsigned int *)0x%" PRIx64 " & 0x80) != 0\n  set $ntr_more = %" PRIu64 "\nend\n",
                   base + NTR_TMC_AXICTL, tables * TMC_PAGE / 4);
    }
    script_put(to,
               "set $ntr_words = ($ntr_wp - $ntr_start) / 4\nif (*(unsigned int *)0x%" PRIx64 " & 1) != 0\n"
               "  set $ntr_words = *(unsigned int *)0x%" PRIx64 " + $ntr_more\nend\nset $ntr_i = 0\n",
               base + NTR_TMC_STS, base + NTR_TMC_RSZ);
    if (etr)
        script_put(
            to, "printf \"# memory 0x%%lx\\n\", $ntr_start\nwhile $ntr_i < $ntr_words\n"
                "  printf \"%%08x\\n\", *(unsigned int *)($ntr_start + 4 * $ntr_i)\n  set $ntr_i = $ntr_i + 1\nend\n");
    else
        script_put(to,
                   "printf \"# fifo\\n\"\nwhile $ntr_i < $ntr_words\n  printf \"%%08x\\n\", *(unsigned int *)0x%" PRIx64
                   "\n  set $ntr_i = $ntr_i + 1\nend\nprintf \"# r 0x%%lx 0x%%08x\\n\", (unsigned long)0x%" PRIx64
                   ", *(unsigned int *)0x%" PRIx64 "\n",
                   base + NTR_TMC_RRD, base + NTR_TMC_RRD, base + NTR_TMC_RRD);
    script_put(to, "set logging enabled off\nprintf \"%%lu words of trace\\n\", (unsigned long)$ntr_words\n");
    for (size_t i = 0; i < to->target->system->count; i++) {
        const trace_component *one = to->target->system->downstream[i];
        if (is_coresight(one))
            script_put(to, "ntr_release 0x%" PRIx64 " %" PRIu32 " %d\n", one->base, coresight_claim(one->system),
                       one->ops->kind == NTR_COMPONENT_TMC);
    }
}

static void gdb_read(const script_writer *to) {
    const trace_component *ram = to->sink;
    const uint64_t base = ram->base;
    script_put(to, "shell rm -f %s\nset logging file %s\nset logging redirect on\nset logging enabled on\n",
               script_words(to), script_words(to));
    script_registers(to, gdb_put_register);
    if (tmc_is_sink(to->sink)) {
        gdb_read_tmc(to);
        return;
    }
    script_put(
        to, "set $ntr_start = *(unsigned int *)0x%" PRIx64 " | (unsigned long)*(unsigned int *)0x%" PRIx64 " << 32\n",
        base + NTR_RAM_START_LOW, base + NTR_RAM_START_HIGH);
    script_put(to,
               "set $ntr_end = (*(unsigned int *)0x%" PRIx64 " | (unsigned long)*(unsigned int *)0x%" PRIx64
               " << 32) + %" PRIu64 "\n",
               base + NTR_RAM_LIMIT_LOW, base + NTR_RAM_LIMIT_HIGH, OPTION(&ram->options, ACCESS));
    script_put(
        to,
        "set $ntr_wp = *(unsigned int *)0x%" PRIx64 " | (unsigned long)*(unsigned int *)0x%" PRIx64 " << 32\n"
        "set $ntr_first = $ntr_start\nset $ntr_words = (($ntr_wp & ~3) - $ntr_start) / 4\n"
        "if ($ntr_wp & 1) != 0\n  set $ntr_first = $ntr_wp & ~3\n  set $ntr_words = ($ntr_end - $ntr_start) / 4\nend\n",
        base + NTR_RAM_WP_LOW, base + NTR_RAM_WP_HIGH);
    script_put(
        to,
        "set $ntr_i = 0\nif (*(unsigned int *)0x%" PRIx64 " & 0x%" PRIx32 ") != 0 && !%d\n"
        "  printf \"# memory 0x%%lx\\n\", $ntr_first\n  while $ntr_i < $ntr_words\n"
        "    if $ntr_first == $ntr_end\n      set $ntr_first = $ntr_start\n      printf \"# memory 0x%%lx\\n\", $ntr_first\n    end\n"
        "    printf \"%%08x\\n\", *(unsigned int *)$ntr_first\n    set $ntr_first = $ntr_first + 4\n    set $ntr_i = $ntr_i + 1\n  "
        "end\nelse\n",
        base + NTR_RAM_CONTROL, NTR_RAM_MODE_MASK, OPTION(&ram->options, SMEM_READ) != 0);
    script_put(
        to,
        "  set {unsigned int}0x%" PRIx64 " = $ntr_first >> 32\n  set {unsigned int}0x%" PRIx64
        " = $ntr_first & 0xffffffff\n"
        "  printf \"# fifo\\n\"\n  while $ntr_i < $ntr_words\n    printf \"%%08x\\n\", *(unsigned int *)0x%" PRIx64 "\n"
        "    set $ntr_i = $ntr_i + 1\n  end\n",
        base + NTR_RAM_RP_HIGH, base + NTR_RAM_RP_LOW, base + NTR_RAM_DATA);
    script_put(to,
               "  printf \"# r 0x%%lx 0x%%08x\\n\", (unsigned long)0x%" PRIx64 ", *(unsigned int *)0x%" PRIx64 "\nend\n"
               "set logging enabled off\nprintf \"%%lu words of trace\\n\", (unsigned long)$ntr_words\n",
               base + NTR_RAM_RP_LOW, base + NTR_RAM_RP_LOW);
}

const script_language script_gdb = {"gdb", gdb_begin, gdb_step, gdb_run, gdb_read};

/* ---- A capture as Tcl for OpenOCD 0.12: openocd -f board.cfg -c init -f capture.tcl -c shutdown */

static const char procedures[] =
    "proc ntr_r32 {address} { return [expr {[lindex [read_memory $address 32 1 phys] 0]}] }\n"
    "proc ntr_w32 {address value} { write_memory $address 32 [list $value] phys }\n"
    "proc ntr_get {address mask shift} { return [expr {([ntr_r32 $address] & $mask) >> $shift}] }\n"
    "proc ntr_put {address mask shift action value} {\n"
    "  set word [expr {[ntr_r32 $address] & ~($mask | $action) & 0xffffffff}]\n"
    "  ntr_w32 $address [expr {$word | (($value << $shift) & $mask)}]\n"
    "  return [ntr_get $address $mask $shift]\n"
    "}\n"
    "proc ntr_await {address mask shift value what} {\n"
    "  for {set end [expr {[ms] + 1000}]} {[ms] < $end} {sleep 1} {\n"
    "    if {[ntr_get $address $mask $shift] == $value} { return }\n"
    "  }\n"
    "  error [format {%s does not become %d: 0x%08x} $what $value [ntr_r32 $address]]\n"
    "}\n"
    "proc ntr_expect {address mask shift value what} {\n"
    "  set found [ntr_get $address $mask $shift]\n"
    "  if {$found != $value} { error [format {%s reads %d, expected %d} $what $found $value] }\n"
    "}\n"
    "proc ntr_set {address mask shift action value what} {\n"
    "  set found [ntr_put $address $mask $shift $action $value]\n"
    "  if {$found != $value} { error [format {%s rejects the value %d (reads back %d)} $what $value $found] }\n"
    "}\n"
    "proc ntr_try {address mask shift action values} {\n"
    "  foreach value $values { if {[ntr_put $address $mask $shift $action $value] == $value} { return } }\n"
    "}\n"
    "proc ntr_disable {control active tracing enable empty action what} {\n"
    "  if {!([ntr_r32 $control] & $active)} { return }\n"
    "  if {$tracing} { ntr_put $control $tracing 0 $action 0 }\n"
    "  ntr_put $control $enable 0 $action 0\n"
    "  ntr_await $control $enable 0 0 \"$what enabled\"\n"
    "  for {set end [expr {[ms] + $::ntr_patience}]} {[ms] < $end} {sleep 1} { if {[ntr_r32 $control] & $empty} { return } }\n"
    "  echo \"$what does not become empty\"\n"
    "}\n"
    "proc ntr_or {address bits} { ntr_w32 $address [expr {[ntr_r32 $address] | $bits}] }\n"
    "proc ntr_claimed {base claim} { return [expr {[ntr_r32 [expr {$base + 0xfa4}]] & $claim}] }\n"
    "proc ntr_flush {base claim sink what} {\n"
    "  set ffcr [expr {$base + 0x304}]\n"
    "  set ctl [expr {$base + 0x20}]\n"
    "  if {![ntr_claimed $base $claim] || !([ntr_r32 $ctl] & 1)} { return }\n"
    "  ntr_or $ffcr 0x1000\n"
    "  ntr_or $ffcr 0x40\n"
    "  ntr_await $ffcr 0x40 6 0 \"$what tmcFlushMan\"\n"
    "  ntr_await [expr {$base + 0x0c}] 4 2 1 \"$what tmcReady\"\n"
    "  if {!$sink} { ntr_w32 $ctl 0 }\n"
    "}\n"
    "proc ntr_close {base claim} {\n"
    "  if {[ntr_claimed $base $claim]} { ntr_w32 $base [expr {[ntr_r32 $base] & ~0xff}] }\n"
    "}\n"
    "proc ntr_release {base claim tmc} {\n"
    "  if {![ntr_claimed $base $claim]} { return }\n"
    "  if {$tmc} { ntr_w32 [expr {$base + 0x20}] 0 }\n"
    "  ntr_w32 [expr {$base + 0xfa4}] $claim\n"
    "  ntr_w32 [expr {$base + 0xfb0}] 0\n"
    "}\n";

static void openocd_begin(const script_writer *to) {
    script_put(to,
               "# Captures a trace; made by ntrace. Run: openocd -f BOARD.cfg -c init -f THIS -c shutdown\n"
               "# Then: ntrace capture --words %s -t TOPOLOGY -e PROGRAM -o BUNDLE\n",
               script_words(to));
    to->options->write(to->options->user, procedures);
    script_put(to, "catch {riscv set_mem_access sysbus progbuf abstract}\ncatch {riscv set_enable_virt2phys off}\n"
                   "set ntr_patience 1000\nproc ntr_start {} {\n");
}

static void put_what(const script_writer *to, const bring_up_step *openocd_step) {
    script_put(to, " %" PRIu32 " {%s at 0x%" PRIx64 ": %s}\n", openocd_step->value, openocd_step->component->name,
               openocd_step->component->base, ntr_bits_get(openocd_step->bits)->name);
}

static void openocd_step(const script_writer *to, const bring_up_step *one) {
    switch (one->kind) {
    case STEP_WRITE:
        script_put(to, "  ntr_w32 0x%" PRIx64 " 0x%" PRIx32 "\n", script_address(one->component, one->reg, one->number),
                   one->value);
        break;
    case STEP_STORE: script_put(to, "  ntr_w32 0x%" PRIx64 " 0x%" PRIx32 "\n", one->address, one->value); break;
    case STEP_COPY:
        script_put(to, "  ntr_w32 0x%" PRIx64 " [ntr_r32 0x%" PRIx64 "]\n", script_address(one->component, one->reg, 0),
                   script_address(one->component, one->from, 0));
        break;
    case STEP_AWAIT:
        put_field(to, "await", one);
        put_what(to, one);
        break;
    case STEP_EXPECT:
        put_field(to, "expect", one);
        put_what(to, one);
        break;
    case STEP_SET:
        put_field(to, "set", one);
        script_put(to, " 0x%" PRIx32, script_action_bits(one->reg));
        put_what(to, one);
        break;
    default:
        put_field(to, "try", one);
        script_put(to, " 0x%" PRIx32 " {", script_action_bits(one->reg));
        for (size_t i = 0; i < one->count; i++) script_put(to, "%s%" PRIu32, i ? " " : "", one->values[i]);
        script_put(to, "}\n");
        break;
    }
}

static void openocd_put_disable(const script_writer *to, const trace_component *one) {
    const common_bits *bits = component_bits(one->ops->kind);
    const uint32_t claim = coresight_claim(one->system);
    if (one->ops->kind == NTR_COMPONENT_TMC) {
        script_put(to,
                   "  if {[catch {ntr_flush 0x%" PRIx64 " %" PRIu32 " %d {%s at 0x%" PRIx64
                   "}} reason]} { echo $reason }\n",
                   one->base, claim, tmc_is_sink(one), one->name, one->base);
        return;
    }
    if (is_coresight(one)) {
        script_put(to, "  if {[catch {ntr_close 0x%" PRIx64 " %" PRIu32 "} reason]} { echo $reason }\n", one->base,
                   claim);
        return;
    }
    const uint32_t tracing = one->ops->kind == NTR_COMPONENT_ENCODER ? NTR_TE_INST_TRACING_MASK : 0;
    script_put(to,
               "  if {[catch {ntr_disable 0x%" PRIx64 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32
               " 0x%" PRIx32 " {%s at 0x%" PRIx64 "}} reason]} { echo $reason }\n",
               script_address(one, bits->control, 0), ntr_bits_mask(ntr_bits_get(bits->active)), tracing,
               ntr_bits_mask(ntr_bits_get(bits->enable)), ntr_bits_mask(ntr_bits_get(bits->empty)),
               script_action_bits(bits->control), one->name, one->base);
}

static void openocd_run(const script_writer *to) {
    const ntr_system *system = to->target->system;
    if (to->options->resume) script_put(to, "  if {[[target current] curstate] eq {halted}} { resume }\n");
    if (to->options->run_ms)
        script_put(to, "  sleep %" PRIu64 "\n", to->options->run_ms);
    else
        script_put(to, "  wait_halt 86400000\n");
    script_put(to, "}\nproc ntr_stop {} {\n");
    if (script_one_sink(to)) /* a sink that has stopped takes nothing more */
        script_put(to, "  if {![catch {ntr_get 0x%" PRIx64 " 0x%" PRIx32 " 0} on] && !$on} { set ::ntr_patience 20 }\n",
                   to->sink->base + NTR_RAM_CONTROL, NTR_RAM_ENABLE_MASK);
    for (size_t i = system->count; i-- > 0;) openocd_put_disable(to, system->downstream[i]);
    script_put(to, "}\n");
}

static void openocd_put_register(const script_writer *to, uint64_t address) {
    script_put(to, "  puts $file [format {# r 0x%%x 0x%%08x} 0x%" PRIx64 " [ntr_r32 0x%" PRIx64 "]]\n", address,
               address);
}

static void openocd_read_tmc(const script_writer *to) {
    const uint64_t base = to->sink->base;
    const bool etr = OPTION(&to->sink->options, TMC_TYPE) == TMC_ETR;
    script_put(to, "proc ntr_read {} {\n  set file [open {%s} w]\n", script_words(to));
    script_registers(to, openocd_put_register);
    script_put(to, "  set start 0\n  set more 0\n  set wp [ntr_r32 0x%" PRIx64 "]\n", base + NTR_TMC_RWP);
    if (etr) {
        uint64_t tables;
        tmc_data_page(0, OPTION(&to->sink->options, TMC_BYTES), 0, &tables);
        script_put(to,
                   "  set start [expr {[ntr_r32 0x%" PRIx64 "] | ([ntr_r32 0x%" PRIx64
                   "] << 32)}]\n  set wp [expr {$wp | ([ntr_r32 0x%" PRIx64 "] << 32)}]\n",
                   base + NTR_TMC_DBALO, base + NTR_TMC_DBAHI, base + NTR_TMC_RWPHI);
        script_put(to, "  if {[ntr_r32 0x%" PRIx64 "] & 0x80} { set more %" PRIu64 " }\n", base + NTR_TMC_AXICTL,
                   tables * TMC_PAGE / 4);
    }
    script_put(to,
               "  set words [expr {($wp - $start) / 4}]\n  if {[ntr_r32 0x%" PRIx64
               "] & 1} { set words [expr {[ntr_r32 0x%" PRIx64 "] + $more}] }\n",
               base + NTR_TMC_STS, base + NTR_TMC_RSZ);
    if (etr)
        script_put(
            to,
            "  puts $file [format {# memory 0x%%x} $start]\n  for {set i 0} {$i < $words} {incr i 256} {\n"
            "    set count [expr {$words - $i < 256 ? $words - $i : 256}]\n"
            "    foreach word [read_memory [expr {$start + 4 * $i}] 32 $count phys] { puts $file [format %%08x $word] }\n  }\n");
    else
        script_put(
            to,
            "  puts $file {# fifo}\n  for {set i 0} {$i < $words} {incr i} { puts $file [format %%08x [ntr_r32 0x%" PRIx64
            "]] }\n  puts $file [format {# r 0x%%x 0x%%08x} 0x%" PRIx64 " [ntr_r32 0x%" PRIx64 "]]\n",
            base + NTR_TMC_RRD, base + NTR_TMC_RRD, base + NTR_TMC_RRD);
    script_put(to, "  close $file\n  echo \"$words words of trace\"\n}\nproc ntr_end {} {\n");
    for (size_t i = 0; i < to->target->system->count; i++) {
        const trace_component *one = to->target->system->downstream[i];
        if (is_coresight(one))
            script_put(to, "  catch {ntr_release 0x%" PRIx64 " %" PRIu32 " %d}\n", one->base,
                       coresight_claim(one->system), one->ops->kind == NTR_COMPONENT_TMC);
    }
    script_put(to, "}\nset ntr_failed [catch {ntr_start} ntr_reason]\nntr_stop\n"
                   "if {!$ntr_failed} { set ntr_failed [catch {ntr_read} ntr_reason] }\nntr_end\n"
                   "if {$ntr_failed} { error $ntr_reason }\n");
}

static void openocd_read(const script_writer *to) {
    const trace_component *ram = to->sink;
    const uint64_t base = ram->base;
    if (tmc_is_sink(ram)) {
        openocd_read_tmc(to);
        return;
    }
    script_put(to,
               "proc ntr_pair {low} { return [expr {[ntr_r32 $low] | ([ntr_r32 [expr {$low + 4}]] << 32)}] }\n"
               "proc ntr_read {} {\n  set file [open {%s} w]\n"
               "  set start [ntr_pair 0x%" PRIx64 "]\n  set limit [ntr_pair 0x%" PRIx64
               "]\n  set wp [ntr_pair 0x%" PRIx64 "]\n",
               script_words(to), base + NTR_RAM_START_LOW, base + NTR_RAM_LIMIT_LOW, base + NTR_RAM_WP_LOW);
    script_put(to,
               "  set wrapped [expr {$wp & 1}]\n  set wp [expr {$wp & ~3}]\n  set end [expr {$limit + %" PRIu64 "}]\n"
               "  set first [expr {$wrapped ? $wp : $start}]\n"
               "  set words [expr {($wrapped ? $end - $start : $wp - $start) / 4}]\n",
               OPTION(&ram->options, ACCESS));
    script_registers(to, openocd_put_register);
    script_put(to,
               "  if {[ntr_get 0x%" PRIx64 " 0x%" PRIx32 " 0] && !%d} {\n"
               "    set address $first\n    puts $file [format {# memory 0x%%x} $address]\n"
               "    for {set i 0} {$i < $words} {incr i} {\n"
               "      if {$address == $end} { set address $start; puts $file [format {# memory 0x%%x} $address] }\n"
               "      puts $file [format %%08x [ntr_r32 $address]]\n      incr address 4\n    }\n  } else {\n",
               base + NTR_RAM_CONTROL, NTR_RAM_MODE_MASK, OPTION(&ram->options, SMEM_READ) != 0);
    script_put(to,
               "    catch {ntr_w32 0x%" PRIx64 " [expr {$first >> 32}]}\n    ntr_w32 0x%" PRIx64
               " [expr {$first & 0xffffffff}]\n"
               "    puts $file {# fifo}\n"
               "    for {set i 0} {$i < $words} {incr i} { puts $file [format %%08x [ntr_r32 0x%" PRIx64 "]] }\n"
               "    puts $file [format {# r 0x%%x 0x%%08x} 0x%" PRIx64 " [ntr_r32 0x%" PRIx64 "]]\n  }\n"
               "  close $file\n  echo \"$words words of trace\"\n}\n",
               base + NTR_RAM_RP_HIGH, base + NTR_RAM_RP_LOW, base + NTR_RAM_DATA, base + NTR_RAM_RP_LOW,
               base + NTR_RAM_RP_LOW);
    script_put(to, "set ntr_failed [catch {ntr_start} ntr_reason]\nntr_stop\n"
                   "if {$ntr_failed} { error $ntr_reason }\nntr_read\n");
}

const script_language script_openocd = {"openocd", openocd_begin, openocd_step, openocd_run, openocd_read};
