/* The packets of GDB's remote protocol: "$DATA#CHECKSUM", acknowledged by "+" until QStartNoAckMode. */
#ifndef NTR_TARGET_RSP_H
#define NTR_TARGET_RSP_H

#include "target/link.h"

enum { RSP_PACKET = 8192 };

typedef struct rsp_client {
    byte_link link;
    bool no_ack;
    char packet[RSP_PACKET]; /* the last answer, terminated by NUL */
    size_t size;
} rsp_client;

/* Sends a packet. */
ntr_status rsp_send(rsp_client *client, const char *data);

/* Receives a packet. Packets with a wrong checksum are asked for again. */
ntr_status rsp_receive(rsp_client *client);

/* Sends a packet and receives the answer. Stop replies and console output that come in between are dropped. */
ntr_status rsp_ask(rsp_client *client, const char *data);

#endif
