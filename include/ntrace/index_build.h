/* Making an index by other ways than from a reader of messages. */
#ifndef NTRACE_INDEX_BUILD_H
#define NTRACE_INDEX_BUILD_H

#include <ntrace/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Add the next message of the stream; also defective ones. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_index_message(ntr_index *index, const ntr_message *message);

/* Add a stored point, of at most NTR_INDEX_POINTS_MAX. Points of one source must be in the order of the stream. Errors:
 * NTR_E_MEMORY, NTR_E_LIMIT, NTR_E_INVALID. */
NTR_API ntr_status ntr_index_add(ntr_index *index, const ntr_point *point);

/* Returns whether every message has a known time and times of a source never decrease. If not, points cannot be found
 * by time. ntr_index_set_timed sets this for an index of stored points. */
NTR_API bool ntr_index_is_timed(const ntr_index *index);

NTR_API void ntr_index_set_timed(ntr_index *index, bool timed);

#ifdef __cplusplus
}
#endif
#endif
