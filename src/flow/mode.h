#ifndef NTR_FLOW_MODE_H
#define NTR_FLOW_MODE_H

/* Which trace mode the messages seen since the last start give away. */
typedef enum ntr_mode { NTR_MODE_UNKNOWN, NTR_MODE_BTM, NTR_MODE_HTM } ntr_mode;

#endif
