#include "target/rsp.h"

#include "base/macros.h"

#include <stdio.h>
#include <string.h>

enum { RETRIES = 3, UNASKED_MAX = 64, NOISE_MAX = 1 << 16 }; /* bytes that may come without a packet */

size_t rsp_frame(char frame[RSP_FRAME], const char *data, size_t size) {
    unsigned char sum = 0;
    frame[0] = '$';
    for (size_t i = 0; i < size; i++) {
        frame[1 + i] = data[i];
        sum = (unsigned char)(sum + (unsigned char)data[i]);
    }
    return 1 + size + (size_t)snprintf(frame + 1 + size, RSP_FRAME - RSP_PACKET, "#%02x", sum);
}

ntr_status rsp_send_data(rsp_client *client, const char *data, size_t data_size) {
    char frame[RSP_FRAME];
    if (data_size > RSP_PACKET) return NTR_E_LIMIT;
    const size_t size = rsp_frame(frame, data, data_size);
    link_begin(&client->link);
    return link_send(&client->link, frame, size); /* in one piece: two small ones cost 40 ms */
}

ntr_status rsp_send(rsp_client *client, const char *data) {
    return rsp_send_data(client, data, strlen(data));
}

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Drops acknowledgements. */
static ntr_status take_start(rsp_client *client) {
    char byte;
    for (unsigned i = 0; i < NOISE_MAX; i++) {
        TRY(link_take(&client->link, &byte));
        if (byte == '$') return NTR_OK;
    }
    return link_break(&client->link, "no packet begins in %d bytes", NOISE_MAX);
}

static ntr_status take_data(rsp_client *client, unsigned char *sum) {
    char byte;
    client->size = 0;
    *sum = 0;
    for (unsigned i = 0; i < NOISE_MAX; i++) {
        TRY(link_take(&client->link, &byte));
        if (byte == '#') {
            client->packet[client->size] = 0;
            return NTR_OK;
        }
        if (byte == '$') { /* the beginning of another packet: the first one was cut off */
            client->size = 0;
            *sum = 0;
            continue;
        }
        if (client->size + 1 == RSP_PACKET)
            return link_break(&client->link, "a packet is longer than %d bytes", RSP_PACKET);
        client->packet[client->size++] = byte;
        *sum = (unsigned char)(*sum + (unsigned char)byte);
    }
    return link_break(&client->link, "no packet ends in %d bytes", NOISE_MAX);
}

ntr_status rsp_receive(rsp_client *client) {
    for (unsigned tries = 0; tries < RETRIES; tries++) {
        unsigned char sum;
        char high, low;
        TRY(take_start(client));
        TRY(take_data(client, &sum));
        TRY(link_take(&client->link, &high));
        TRY(link_take(&client->link, &low));
        const bool good = client->no_ack || (digit_of(high) == sum >> 4 && digit_of(low) == (sum & 15));
        if (!client->no_ack) TRY(link_send(&client->link, good ? "+" : "-", 1));
        if (good) return NTR_OK;
    }
    return link_break(&client->link, "packets with wrong checksums");
}

bool rsp_comes(rsp_client *client, uint32_t ms) {
    char byte;
    for (unsigned i = 0; i < NOISE_MAX && link_comes(&client->link, ms); i++) {
        if (i == 0) link_begin(&client->link); /* the last request may be long ago */
        if (link_take(&client->link, &byte) != NTR_OK) return false;
        ms = 0;
        if (byte != '$') continue;
        client->link.at--; /* rsp_receive takes it */
        link_begin(&client->link);
        return true;
    }
    return false;
}

/* A stop reply, or console output. A server may send one at any time: QEMU does after a client has connected. */
static bool is_unasked(const rsp_client *client) {
    const char first = client->packet[0];
    return first == 'T' || first == 'W' || (first == 'O' && strcmp(client->packet, "OK") != 0);
}

ntr_status rsp_ask(rsp_client *client, const char *data) {
    TRY(rsp_send(client, data));
    for (unsigned i = 0; i < UNASKED_MAX; i++) {
        TRY(rsp_receive(client));
        if (!is_unasked(client)) return NTR_OK;
    }
    return link_break(&client->link, "the server sends packets that answer nothing");
}
