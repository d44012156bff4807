#ifndef NTR_BASE_TRY_H
#define NTR_BASE_TRY_H

#include <ntrace/status.h>

/* Returns the status of the call from the calling function, unless it is NTR_OK. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        ntr_status try_status_ = (call);                                                                               \
        if (try_status_ != NTR_OK) return try_status_;                                                                 \
    } while (0)

#endif
