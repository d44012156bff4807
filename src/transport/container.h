/* The functions of a container. */
#ifndef NTR_TRANSPORT_CONTAINER_H
#define NTR_TRANSPORT_CONTAINER_H

#include <ntrace/container.h>

typedef struct container_ops {
    const char *name, *producer, *dialect;
    /* Returns NTR_END when it is another file. Sets params, given, facts and what `read` needs. */
    ntr_status (*find)(ntr_bytes beginning, ntr_container *container);
    /* NULL: the stream is the file without its first `skip` bytes. */
    size_t (*read)(ntr_container *container, ntr_bytes bytes, uint8_t *out);
} container_ops;

#define NTR_CONTAINER(id) extern const container_ops ntr_container_##id;
#include "transport/containers.def"
#undef NTR_CONTAINER

#endif
