/* A queue of complete messages. */
#ifndef NTR_SYSTEM_QUEUE_H
#define NTR_SYSTEM_QUEUE_H

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_MESSAGE_MAX = 64 }; /* the encoder does not generate longer messages */

typedef struct message_queue {
    uint8_t *ring;     /* for each message a length byte, then the message */
    uint32_t size;     /* size of the ring */
    uint32_t head, tail;
    uint32_t capacity; /* limit of `used` */
    uint32_t used;     /* bytes of messages in the queue, without length bytes */
} message_queue;

/* Returns 0, or -1 when out of memory. */
int queue_init(message_queue *queue, uint32_t capacity, const ntr_allocator *allocator);
void queue_release(message_queue *queue, const ntr_allocator *allocator);

static inline bool queue_empty(const message_queue *queue) {
    return queue->head == queue->tail;
}

/* Returns whether the queue has space for a message of this size. */
static inline bool queue_room(const message_queue *queue, uint32_t size) {
    return size <= queue->capacity - queue->used;
}

/* Appends a message. The queue must have space for it. */
void queue_put(message_queue *queue, const uint8_t *bytes, uint32_t size);

/* Copies the oldest message. Returns its size, or 0 when the queue is empty. */
uint32_t queue_peek(const message_queue *queue, uint8_t bytes[QUEUE_MESSAGE_MAX]);
void queue_pop(message_queue *queue);

#endif
