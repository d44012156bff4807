/* libntrace: RISC-V N-Trace 1.0, encode, decode, model and analyse. */
#ifndef NTRACE_NTRACE_H
#define NTRACE_NTRACE_H

#include <ntrace/allocator.h>
#include <ntrace/bundle.h>
#include <ntrace/bytes.h>
#include <ntrace/callstack.h>
#include <ntrace/calltree.h>
#include <ntrace/check.h>
#include <ntrace/clock.h>
#include <ntrace/context.h>
#include <ntrace/coverage.h>
#include <ntrace/decoder.h>
#include <ntrace/dialect.h>
#include <ntrace/encoder.h>
#include <ntrace/event.h>
#include <ntrace/export.h>
#include <ntrace/framer.h>
#include <ntrace/index.h>
#include <ntrace/infer.h>
#include <ntrace/ingress.h>
#include <ntrace/ingress_block.h>
#include <ntrace/interrupts.h>
#include <ntrace/isa.h>
#include <ntrace/message.h>
#include <ntrace/event_sorter.h>
#include <ntrace/parallel.h>
#include <ntrace/params.h>
#include <ntrace/pins.h>
#include <ntrace/profile.h>
#include <ntrace/program.h>
#include <ntrace/reader.h>
#include <ntrace/registers.h>
#include <ntrace/debug_info.h>
#include <ntrace/status.h>
#include <ntrace/tally.h>
#include <ntrace/timeline.h>
#include <ntrace/system.h>
#include <ntrace/transport.h>

#endif
