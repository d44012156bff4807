/* The second tier, which may grow: transports, inference and classification (libntrace); captures, models of trace
 * hardware, conformance checks, analysis and exports (libntrace-tools, which builds on libntrace). */
#ifndef NTRACE_TOOLS_H
#define NTRACE_TOOLS_H

#include <ntrace/ntrace.h>
#include <ntrace/analyzer.h>
#include <ntrace/bundle.h>
#include <ntrace/bus.h>
#include <ntrace/callstack.h>
#include <ntrace/calltree.h>
#include <ntrace/capture.h>
#include <ntrace/check.h>
#include <ntrace/chunk_output.h>
#include <ntrace/container.h>
#include <ntrace/costs.h>
#include <ntrace/coverage.h>
#include <ntrace/debug_info.h>
#include <ntrace/difference.h>
#include <ntrace/encoder_hardware.h>
#include <ntrace/event_sorter.h>
#include <ntrace/export.h>
#include <ntrace/fit.h>
#include <ntrace/frames.h>
#include <ntrace/index_build.h>
#include <ntrace/infer.h>
#include <ntrace/ingress.h>
#include <ntrace/interrupts.h>
#include <ntrace/machine.h>
#include <ntrace/message_layout.h>
#include <ntrace/object_coverage.h>
#include <ntrace/perf_data.h>
#include <ntrace/pins.h>
#include <ntrace/profile.h>
#include <ntrace/program_files.h>
#include <ntrace/registers.h>
#include <ntrace/replay.h>
#include <ntrace/stream_reader.h>
#include <ntrace/system.h>
#include <ntrace/tally.h>
#include <ntrace/target.h>
#include <ntrace/tasks.h>
#include <ntrace/timeline.h>
#include <ntrace/tmc.h>
#include <ntrace/transport.h>

#endif
