/* Reading of a topology. */
#ifndef NTR_SYSTEM_TOPOLOGY_H
#define NTR_SYSTEM_TOPOLOGY_H

#include "system/system.h"

/* Creates the components of the JSON text. On failure the reason is stored in `error` of the configuration. */
ntr_status topology_read(ntr_system *system);

#endif
