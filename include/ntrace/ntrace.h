/* The core of libntrace, which the first release freezes: messages, readers, decoder, programs, index, parallel
 * decoder, encoder. Needs the C library alone; ELF files through libelf.
 *
 * <ntrace/tools.h> has the second tier. docs/library.md is the guide to all. */
#ifndef NTRACE_NTRACE_H
#define NTRACE_NTRACE_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/clock.h>
#include <ntrace/config.h>
#include <ntrace/context.h>
#include <ntrace/decoder.h>
#include <ntrace/dialect.h>
#include <ntrace/encoder.h>
#include <ntrace/event.h>
#include <ntrace/framer.h>
#include <ntrace/index.h>
#include <ntrace/ingress_block.h>
#include <ntrace/instructions.h>
#include <ntrace/isa.h>
#include <ntrace/limits.h>
#include <ntrace/message.h>
#include <ntrace/message_end.h>
#include <ntrace/parallel.h>
#include <ntrace/params.h>
#include <ntrace/program.h>
#include <ntrace/reader.h>
#include <ntrace/status.h>
#include <ntrace/values.h>
#include <ntrace/version.h>

#endif
