/* A capture as commands of GDB 12 or later: gdb-multiarch -batch -ex "target remote HOST:PORT" -x THIS
 *
 * Each access is an access to an unsigned int: one packet for 4 bytes. GDB has no exceptions in its own language; a
 * command that does not exist ends a script that has failed, after everything was disabled. */
#include "target/script.h"

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
    "end\n";

static void put_disable(const script_writer *to, const trace_component *one) {
    const common_bits *bits = component_bits(one->ops->kind);
    const uint32_t tracing = one->ops->kind == NTR_COMPONENT_ENCODER ? NTR_TE_INST_TRACING_MASK : 0;
    script_put(to,
               "  ntr_disable 0x%" PRIx64 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 "\n",
               script_address(one, bits->control, 0), ntr_bits_mask(ntr_bits_get(bits->active)), tracing,
               ntr_bits_mask(ntr_bits_get(bits->enable)), ntr_bits_mask(ntr_bits_get(bits->empty)),
               script_action_bits(bits->control));
}

static void begin(const script_writer *to) {
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
    for (size_t i = system->count; i-- > 0;) put_disable(to, system->downstream[i]);
    script_put(to, "end\n");
}

static void put_field(const script_writer *to, const char *name, const bring_up_step *step) {
    const ntr_bits_info *info = ntr_bits_get(step->bits);
    script_put(to, "ntr_%s 0x%" PRIx64 " 0x%" PRIx32 " %u ", name,
               script_address(step->component, step->reg, step->number), ntr_bits_mask(info), info->low);
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

static void step(const script_writer *to, const bring_up_step *one) {
    const uint64_t address = script_address(one->component, one->reg, one->number);
    switch (one->kind) {
    case STEP_WRITE: script_put(to, "set {unsigned int}0x%" PRIx64 " = 0x%" PRIx32 "\n", address, one->value); break;
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
static void run(const script_writer *to) {
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

static void put_register(const script_writer *to, uint64_t address) {
    script_put(to, "printf \"# r 0x%%lx 0x%%08x\\n\", (unsigned long)0x%" PRIx64 ", *(unsigned int *)0x%" PRIx64 "\n",
               address, address);
}

static void read(const script_writer *to) {
    const trace_component *ram = to->sink;
    const uint64_t base = ram->base;
    script_put(to, "shell rm -f %s\nset logging file %s\nset logging redirect on\nset logging enabled on\n",
               script_words(to), script_words(to));
    script_registers(to, put_register);
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

const script_language script_gdb = {"gdb", begin, step, run, read};
