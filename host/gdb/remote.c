/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the remote protocol: "$data#sum", a byte at a time. */

#include "gdb/remote.h"

#include <stdio.h>
#include <string.h>

#define REPEAT_BIAS 29 /* "x*C": x and C - 29 more of it */
#define ESCAPE_BIT 0x20

/* One more than the value of a digit. */
static const uint8_t digits_more[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
    ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static int digit_value(uint8_t byte)
{
    return digits_more[byte] - 1;
}

static void put_byte(struct remote_reader *reader, uint8_t byte)
{
    if (reader->used < REMOTE_PACKET_MAX)
        reader->data[reader->used++] = byte;
    else
        reader->overlong = true;
}

static void begin_packet(struct remote_reader *reader, bool notification)
{
    reader->state = REMOTE_DATA;
    reader->notification = notification;
    reader->overlong = false;
    reader->sum = 0;
    reader->used = 0;
}

static void repeat_byte(struct remote_reader *reader, uint8_t byte)
{
    reader->state = REMOTE_DATA;
    if (reader->used == 0 || byte < REPEAT_BIAS) {
        reader->overlong = true;
        return;
    }
    for (int i = byte - REPEAT_BIAS; i > 0; --i)
        put_byte(reader, reader->data[reader->used - 1]);
}

static void take_data(struct remote_reader *reader, uint8_t byte)
{
    switch (byte) {
    case '}':
        reader->state = REMOTE_ESCAPED;
        break;
    case '*':
        reader->state = REMOTE_REPEAT;
        break;
    default:
        put_byte(reader, byte);
        break;
    }
}

static enum remote_event end_packet(struct remote_reader *reader, uint8_t byte)
{
    int low = digit_value(byte);

    reader->state = REMOTE_IDLE;
    if (reader->notification)
        return REMOTE_MORE;
    reader->data[reader->used] = 0;
    if (low < 0 || reader->overlong ||
        (reader->wanted | (uint8_t)low) != reader->sum)
        return REMOTE_DAMAGED;
    return REMOTE_PACKET;
}

/* What is part of a packet and counts in its checksum. */
static void take_inner(struct remote_reader *reader, uint8_t byte)
{
    reader->sum = (uint8_t)(reader->sum + byte);
    if (reader->state == REMOTE_ESCAPED) {
        put_byte(reader, byte ^ ESCAPE_BIT);
        reader->state = REMOTE_DATA;
    } else if (reader->state == REMOTE_REPEAT) {
        repeat_byte(reader, byte);
    } else {
        take_data(reader, byte);
    }
}

enum remote_event remote_feed(struct remote_reader *reader, uint8_t byte)
{
    int high;

    switch (reader->state) {
    case REMOTE_IDLE:
        if (byte == '$' || byte == '%')
            begin_packet(reader, byte == '%');
        return REMOTE_MORE;
    case REMOTE_SUM:
        high = digit_value(byte);
        reader->overlong = reader->overlong || high < 0;
        reader->wanted = (uint8_t)((unsigned)high << 4);
        reader->state = REMOTE_SUM_LAST;
        return REMOTE_MORE;
    case REMOTE_SUM_LAST:
        return end_packet(reader, byte);
    default:
        break;
    }
    /* a packet that is cut off by the next one */
    if (byte == '$') {
        begin_packet(reader, false);
        return REMOTE_DAMAGED;
    }
    if (byte == '#')
        reader->state = REMOTE_SUM;
    else
        take_inner(reader, byte);
    return REMOTE_MORE;
}

size_t remote_feed_plain(struct remote_reader *reader, const uint8_t *bytes,
                         size_t count)
{
    static const char special[] = {'#', '$', '}', '*'};
    size_t room = REMOTE_PACKET_MAX - reader->used;
    uint8_t sum = reader->sum;

    if (reader->state != REMOTE_DATA)
        return 0;
    if (count > room)
        count = room;
    for (size_t i = 0; i < sizeof special; ++i) {
        const uint8_t *found = memchr(bytes, special[i], count);

        if (found != NULL)
            count = (size_t)(found - bytes);
    }
    for (size_t i = 0; i < count; ++i)
        sum = (uint8_t)(sum + bytes[i]);
    memcpy(reader->data + reader->used, bytes, count);
    reader->sum = sum;
    reader->used += count;
    return count;
}

size_t remote_frame(char *to, size_t room, const char *payload)
{
    size_t count = strlen(payload);
    uint8_t sum = 0;

    if (count + 5 > room)
        return 0;
    for (size_t i = 0; i < count; ++i)
        sum = (uint8_t)(sum + (uint8_t)payload[i]);
    return (size_t)sprintf(to, "$%s#%02x", payload, sum);
}

size_t remote_hex(const uint8_t *digits, size_t count, uint8_t *to, size_t room)
{
    size_t bytes = 0;

    while (bytes < room && 2 * bytes + 1 < count) {
        int high = digit_value(digits[2 * bytes]);
        int low = digit_value(digits[2 * bytes + 1]);

        if (high < 0 || low < 0)
            break;
        to[bytes++] = (uint8_t)(high << 4 | low);
    }
    return bytes;
}
