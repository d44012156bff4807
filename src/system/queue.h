/* Whole messages that wait. */
#ifndef NTR_SYSTEM_QUEUE_H
#define NTR_SYSTEM_QUEUE_H

#include <ntrace/allocator.h>
#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_MESSAGE_MAX = 64 }; /* no encoder of the model makes longer ones */

typedef struct message_queue {
    uint8_t *ring;     /* a byte that tells the length, then the message */
    uint32_t size;     /* of the ring */
    uint32_t head, tail;
    uint32_t capacity; /* bytes of messages */
    uint32_t used;
} message_queue;

/* 0, or -1 when out of memory. */
int queue_init(message_queue *queue, uint32_t capacity, const ntr_allocator *allocator);
void queue_release(message_queue *queue, const ntr_allocator *allocator);

static inline bool queue_empty(const message_queue *queue) { return queue->head == queue->tail; }

/* Room for a message of this size. */
static inline bool queue_room(const message_queue *queue, uint32_t size) { return size <= queue->capacity - queue->used; }

/* There must be room. */
void queue_put(message_queue *queue, const uint8_t *bytes, uint32_t size);

/* The oldest message: its size; 0 when there is none. */
uint32_t queue_peek(const message_queue *queue, uint8_t bytes[QUEUE_MESSAGE_MAX]);
void queue_pop(message_queue *queue);

#endif
