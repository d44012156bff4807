/* The packets of GDB's remote protocol: "$DATA#CHECKSUM", acknowledged by "+" until QStartNoAckMode. */
#ifndef NTR_TARGET_RSP_H
#define NTR_TARGET_RSP_H

#include "target/link.h"

enum { RSP_PACKET = 8192, RSP_FRAME = RSP_PACKET + 8 };

typedef struct rsp_client {
    byte_link link;
    bool no_ack;
    char packet[RSP_PACKET]; /* the last answer, terminated by NUL */
    size_t size;
} rsp_client;

/* Makes "$DATA#CHECKSUM" of at most RSP_PACKET bytes. Returns its size. */
size_t rsp_frame(char frame[RSP_FRAME], const char *data, size_t size);

/* Send a packet: text, or any bytes that are escaped already. */
ntr_status rsp_send(rsp_client *client, const char *data);
ntr_status rsp_send_data(rsp_client *client, const char *data, size_t size);

/* Receives a packet. Packets with a wrong checksum are asked for again. */
ntr_status rsp_receive(rsp_client *client);

/* Returns whether a packet has begun to arrive within so many milliseconds; acknowledgements before it are dropped. */
bool rsp_comes(rsp_client *client, uint32_t ms);

/* Sends a packet and receives the answer. Stop replies and console output that come in between are dropped. */
ntr_status rsp_ask(rsp_client *client, const char *data);

#endif
