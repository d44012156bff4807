#include "system/component.h"

#include "base/allocator.h"

#include <string.h>

int queue_init(message_queue *queue, uint32_t capacity, const ntr_allocator *allocator) {
    memset(queue, 0, sizeof *queue);
    queue->capacity = capacity;
    queue->size = 3 * capacity + 1; /* two bytes for each message; no message is empty */
    queue->ring = ntr_alloc(allocator, queue->size, 1);
    return queue->ring ? 0 : -1;
}

void queue_release(message_queue *queue, const ntr_allocator *allocator) {
    ntr_dealloc(allocator, queue->ring);
    queue->ring = NULL;
}

static uint32_t next(const message_queue *queue, uint32_t at) {
    return at + 1 == queue->size ? 0 : at + 1;
}

static void put_byte(message_queue *queue, uint8_t byte) {
    queue->ring[queue->tail] = byte;
    queue->tail = next(queue, queue->tail);
}

void queue_put(message_queue *queue, uint8_t id, const uint8_t *bytes, uint32_t size) {
    put_byte(queue, (uint8_t)size);
    put_byte(queue, id);
    for (uint32_t i = 0; i < size; i++) put_byte(queue, bytes[i]);
    queue->used += size;
}

uint8_t queue_id(const message_queue *queue) {
    return queue->ring[next(queue, queue->head)];
}

uint32_t queue_peek(const message_queue *queue, uint8_t bytes[QUEUE_MESSAGE_MAX]) {
    if (queue_empty(queue)) return 0;
    const uint32_t size = queue->ring[queue->head];
    uint32_t at = next(queue, queue->head);
    for (uint32_t i = 0; i < size; i++) {
        at = next(queue, at);
        bytes[i] = queue->ring[at];
    }
    return size;
}

void queue_pop(message_queue *queue) {
    const uint32_t size = queue->ring[queue->head];
    queue->used -= size;
    queue->head = (queue->head + 2 + size) % queue->size;
}
