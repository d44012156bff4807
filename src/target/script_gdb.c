/* A capture as commands of GDB 12 or later: gdb-multiarch -batch -ex "target remote HOST:PORT" -x THIS
 *
 * Each access is an access to an unsigned int: one packet for 4 bytes. GDB has no exceptions in its own language; a
 * command that does not exist ends a script that has failed, after everything was disabled. */
#include "target/script.h"

#include "base/macros.h"

#include <inttypes.h>

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
               bring_up_address(one, bits->control, 0), ntr_bits_mask(ntr_bits_get(bits->active)), tracing,
               ntr_bits_mask(ntr_bits_get(bits->enable)), ntr_bits_mask(ntr_bits_get(bits->empty)),
               bring_up_action_bits(bits->control));
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

/* The values are tried in order, until one reads back. */
static void put_try(const script_writer *to, const bring_up_step *one) {
    for (size_t i = 0; i < one->count; i++) {
        if (i) script_put(to, "if $ntr_v != %" PRIu32 "\n", one->values[i - 1]);
        script_field(to, "put", one);
        script_put(to, "0x%" PRIx32 " %" PRIu32 "\n", bring_up_action_bits(one->reg), one->values[i]);
    }
    for (size_t i = 1; i < one->count; i++) script_put(to, "end\n");
}

static void gdb_step(const script_writer *to, const bring_up_step *one) {
    const uint64_t address = bring_up_address(one->component, one->reg, one->number);
    switch (one->kind) {
    case STEP_WRITE: script_put(to, "set {unsigned int}0x%" PRIx64 " = 0x%" PRIx32 "\n", address, one->value); break;
    case STEP_STORE:
        script_put(to, "set {unsigned int}0x%" PRIx64 " = 0x%" PRIx32 "\n", one->address, one->value);
        break;
    case STEP_COPY:
        script_put(to, "set {unsigned int}0x%" PRIx64 " = *(unsigned int *)0x%" PRIx64 "\n", address,
                   bring_up_address(one->component, one->from, 0));
        break;
    case STEP_AWAIT:
    case STEP_EXPECT:
        script_put(to, "# %s: %s\n", one->component->name, ntr_bits_get(one->bits)->name);
        script_field(to, "await", one);
        script_put(to, "%" PRIu32 "\n", one->value);
        break;
    case STEP_SET:
        script_field(to, "set", one);
        script_put(to, "0x%" PRIx32 " %" PRIu32 "\n", bring_up_action_bits(one->reg), one->value);
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
               "set $ntr_span_end = (*(unsigned int *)0x%" PRIx64 " | (unsigned long)*(unsigned int *)0x%" PRIx64
               " << 32) + %" PRIu64 "\n",
               base + NTR_RAM_LIMIT_LOW, base + NTR_RAM_LIMIT_HIGH, OPTION(&ram->options, ACCESS));
    script_put(
        to,
        "set $ntr_wp = *(unsigned int *)0x%" PRIx64 " | (unsigned long)*(unsigned int *)0x%" PRIx64 " << 32\n"
        "set $ntr_first = $ntr_start\nset $ntr_words = (($ntr_wp & ~3) - $ntr_start) / 4\n"
        "if ($ntr_wp & 1) != 0\n  set $ntr_first = $ntr_wp & ~3\n  set $ntr_words = ($ntr_span_end - $ntr_start) / 4\nend\n",
        base + NTR_RAM_WP_LOW, base + NTR_RAM_WP_HIGH);
    script_put(
        to,
        "set $ntr_i = 0\nif (*(unsigned int *)0x%" PRIx64 " & 0x%" PRIx32 ") != 0 && !%d\n"
        "  printf \"# memory 0x%%lx\\n\", $ntr_first\n  while $ntr_i < $ntr_words\n"
        "    if $ntr_first == $ntr_span_end\n      set $ntr_first = $ntr_start\n      printf \"# memory 0x%%lx\\n\", $ntr_first\n    end\n"
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
