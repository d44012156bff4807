/* The connections behind ntr_bus_open. */
#ifndef NTR_TARGET_BUSES_H
#define NTR_TARGET_BUSES_H

#include <ntrace/target.h>

#include <stdarg.h>

enum { BUS_WORD = 4 /* bytes */ };

/* Open a connection. NTR_E_IO: the reason is in options->error. */
ntr_status bus_openocd_open(ntr_bus *bus, const ntr_bus_options *options);
ntr_status bus_gdb_open(ntr_bus *bus, const ntr_bus_options *options);
ntr_status bus_mem_open(ntr_bus *bus, const ntr_bus_options *options);
ntr_status bus_exec_open(ntr_bus *bus, const ntr_bus_options *options);

#endif
