/* libntrace: decodes, encodes and transports RISC-V N-Trace 1.0. Needs the C library alone; ELF files through libelf.
 *
 * <ntrace/tools.h> has libntrace-tools. docs/library.md is the guide to both. */
#ifndef NTRACE_NTRACE_H
#define NTRACE_NTRACE_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/clock.h>
#include <ntrace/config.h>
#include <ntrace/container.h>
#include <ntrace/context.h>
#include <ntrace/decoder.h>
#include <ntrace/dialect.h>
#include <ntrace/encoder.h>
#include <ntrace/event.h>
#include <ntrace/event_sorter.h>
#include <ntrace/fit.h>
#include <ntrace/framer.h>
#include <ntrace/frames.h>
#include <ntrace/index.h>
#include <ntrace/infer.h>
#include <ntrace/ingress.h>
#include <ntrace/ingress_block.h>
#include <ntrace/instructions.h>
#include <ntrace/isa.h>
#include <ntrace/message.h>
#include <ntrace/parallel.h>
#include <ntrace/params.h>
#include <ntrace/pins.h>
#include <ntrace/program.h>
#include <ntrace/reader.h>
#include <ntrace/status.h>
#include <ntrace/tmc.h>
#include <ntrace/transport.h>
#include <ntrace/values.h>
#include <ntrace/version.h>

#endif
