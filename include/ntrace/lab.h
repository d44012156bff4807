/* The third tier: what the command is made of beside the other two, without a promise; any version may change it. It is
 * installed and exported on request (meson setup -Dlab=true). */
#ifndef NTRACE_LAB_H
#define NTRACE_LAB_H

#include <ntrace/tools.h>
#include <ntrace/board.h>
#include <ntrace/decision.h>
#include <ntrace/explore.h>
#include <ntrace/gdb.h>
#include <ntrace/justification.h>
#include <ntrace/line_walk.h>
#include <ntrace/module.h>
#include <ntrace/partial.h>

#endif
