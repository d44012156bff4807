/* libntrace-tools: captures, models of trace hardware, conformance checks, analysis and exports. Builds on libntrace.
 */
#ifndef NTRACE_TOOLS_H
#define NTRACE_TOOLS_H

#include <ntrace/ntrace.h>
#include <ntrace/analyzer.h>
#include <ntrace/board.h>
#include <ntrace/bundle.h>
#include <ntrace/bus.h>
#include <ntrace/callstack.h>
#include <ntrace/calltree.h>
#include <ntrace/capture.h>
#include <ntrace/check.h>
#include <ntrace/costs.h>
#include <ntrace/coverage.h>
#include <ntrace/debug_info.h>
#include <ntrace/decision.h>
#include <ntrace/difference.h>
#include <ntrace/explore.h>
#include <ntrace/export.h>
#include <ntrace/gdb.h>
#include <ntrace/interrupts.h>
#include <ntrace/machine.h>
#include <ntrace/object_coverage.h>
#include <ntrace/partial.h>
#include <ntrace/perf_data.h>
#include <ntrace/profile.h>
#include <ntrace/registers.h>
#include <ntrace/replay.h>
#include <ntrace/stream_reader.h>
#include <ntrace/system.h>
#include <ntrace/tally.h>
#include <ntrace/tasks.h>
#include <ntrace/target.h>
#include <ntrace/timeline.h>

#endif
