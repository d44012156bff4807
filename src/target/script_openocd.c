/* A capture as Tcl for OpenOCD 0.12: openocd -f board.cfg -c init -f capture.tcl -c shutdown */
#include "target/script.h"

#include "base/macros.h"

#include <inttypes.h>

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
        script_put(to, "  ntr_w32 0x%" PRIx64 " 0x%" PRIx32 "\n",
                   bring_up_address(one->component, one->reg, one->number), one->value);
        break;
    case STEP_STORE: script_put(to, "  ntr_w32 0x%" PRIx64 " 0x%" PRIx32 "\n", one->address, one->value); break;
    case STEP_COPY:
        script_put(to, "  ntr_w32 0x%" PRIx64 " [ntr_r32 0x%" PRIx64 "]\n",
                   bring_up_address(one->component, one->reg, 0), bring_up_address(one->component, one->from, 0));
        break;
    case STEP_AWAIT:
        script_field(to, "await", one);
        put_what(to, one);
        break;
    case STEP_EXPECT:
        script_field(to, "expect", one);
        put_what(to, one);
        break;
    case STEP_SET:
        script_field(to, "set", one);
        script_put(to, " 0x%" PRIx32, bring_up_action_bits(one->reg));
        put_what(to, one);
        break;
    default:
        script_field(to, "try", one);
        script_put(to, " 0x%" PRIx32 " {", bring_up_action_bits(one->reg));
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
               bring_up_address(one, bits->control, 0), ntr_bits_mask(ntr_bits_get(bits->active)), tracing,
               ntr_bits_mask(ntr_bits_get(bits->enable)), ntr_bits_mask(ntr_bits_get(bits->empty)),
               bring_up_action_bits(bits->control), one->name, one->base);
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
    script_put(to, "  close $file\n  echo \"$words words of trace\"\n}\nproc ntr_span_end {} {\n");
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
