/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to and from a stub.
 *
 * Acknowledgements go out before the next packet, never by themselves: QEMU
 * takes any byte that comes while the guest runs for a request to stop it.
 */

#include "stub/stub_wire.h"

#include "base/seconds.h"
#include "base/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INTERRUPT '\x03'
#define ASK_MAX 512
#define HURRY_SECONDS 1.0 /* to the end after Ctrl-C */
#define NEWS_MAX 1000     /* packets that answer nothing, in a row */
#define DRAINED_MAX 64    /* buffers */

static void end(struct stub *stub, enum machine_reason reason)
{
    if (stub->machine.reason == MACHINE_LIVES)
        stub->machine.reason = reason;
}

static void put_bytes(struct stub *stub, const char *bytes, size_t count)
{
    if (stub->out_used + count > sizeof stub->out)
        wire_send(stub);
    memcpy(stub->out + stub->out_used, bytes, count);
    stub->out_used += count;
}

void wire_put_ack(struct stub *stub)
{
    if (stub->owes_ack && stub->acks)
        put_bytes(stub, "+", 1);
    stub->owes_ack = false;
}

static void put_packet(struct stub *stub, const char *format, va_list words)
{
    char payload[ASK_MAX], packet[ASK_MAX + 8];

    vsnprintf(payload, sizeof payload, format, words);
    wire_put_ack(stub);
    put_bytes(stub, packet, remote_frame(packet, sizeof packet, payload));
}

void wire_put(struct stub *stub, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    put_packet(stub, format, words);
    va_end(words);
}

void wire_put_interrupt(struct stub *stub)
{
    wire_put_ack(stub);
    put_bytes(stub, &(char){INTERRUPT}, 1);
}

void wire_send(struct stub *stub)
{
    size_t sent = 0;

    while (sent < stub->out_used && stub->machine.reason == MACHINE_LIVES) {
        ssize_t count = send(stub->file, stub->out + sent,
                             stub->out_used - sent, MSG_NOSIGNAL);

        if (count > 0)
            sent += (size_t)count;
        else if (count < 0 && errno != EINTR)
            end(stub, MACHINE_GONE);
    }
    stub->out_used = 0;
}

/* Waits until (deadline) for bytes. */
static bool fill(struct stub *stub, double deadline)
{
    struct pollfd wait = {.fd = stub->file, .events = POLLIN};
    ssize_t count;
    double left = deadline - seconds_now();

    if (left < 0)
        left = 0;
    if (poll(&wait, 1, (int)(left * 1000) + (left > 0)) <= 0)
        return false;
    count = recv(stub->file, stub->in, sizeof stub->in, 0);
    if (count == 0 || (count < 0 && errno != EINTR))
        end(stub, MACHINE_GONE);
    stub->in_at = 0;
    stub->in_end = count > 0 ? (size_t)count : 0;
    return true;
}

/* The next event from bytes that are there. */
static enum remote_event feed(struct stub *stub)
{
    while (stub->in_at < stub->in_end) {
        enum remote_event event;

        stub->in_at += remote_feed_plain(&stub->reader, stub->in + stub->in_at,
                                         stub->in_end - stub->in_at);
        if (stub->in_at == stub->in_end)
            break;
        event = remote_feed(&stub->reader, stub->in[stub->in_at++]);
        if (event != REMOTE_MORE) {
            ++stub->packets;
            stub->owes_ack = true;
            return event;
        }
    }
    return REMOTE_MORE;
}

static enum remote_event next(struct stub *stub)
{
    double deadline = seconds_now() + stub->timeout;

    while (stub->machine.reason == MACHINE_LIVES) {
        enum remote_event event = feed(stub);

        if (event != REMOTE_MORE)
            return event;
        if (signals_caught() && deadline > seconds_now() + HURRY_SECONDS)
            deadline = seconds_now() + HURRY_SECONDS;
        fill(stub, deadline);
        if (stub->in_at == stub->in_end && seconds_now() >= deadline)
            end(stub, MACHINE_SILENT);
        else if (seconds_now() >= deadline + stub->timeout)
            end(stub, MACHINE_NONSENSE);
    }
    return REMOTE_MORE;
}

/* Whether the packet says that the guest has stopped. */
static bool is_stop(struct stub *stub)
{
    return stub->reader.data[0] == 'T' || stub->reader.data[0] == 'S';
}

/* Takes a packet that answers nothing. */
static bool take_news(struct stub *stub)
{
    const char *data = (const char *)stub->reader.data;

    if (is_stop(stub)) {
        ++stub->stops;
        stub->machine.late_stop = stub->answers > 0;
        return true;
    }
    if (data[0] == 'W' || data[0] == 'X') {
        end(stub, MACHINE_EXITED);
        return true;
    }
    return data[0] == 'O' && strcmp(data, "OK") != 0;
}

enum wire_answer wire_receive(struct stub *stub)
{
    for (unsigned i = 0; i < NEWS_MAX; ++i) {
        enum remote_event event = next(stub);

        if (event == REMOTE_MORE)
            return WIRE_ENDED;
        if (event == REMOTE_DAMAGED)
            return WIRE_DAMAGED;
        if (!take_news(stub)) {
            ++stub->answers;
            return WIRE_DATA;
        }
        if (stub->machine.late_stop)
            return WIRE_DAMAGED;
    }
    end(stub, MACHINE_NONSENSE);
    return WIRE_ENDED;
}

bool wire_receive_stop(struct stub *stub)
{
    for (unsigned i = 0; stub->stops == 0 && i < NEWS_MAX; ++i) {
        if (next(stub) == REMOTE_MORE)
            return false;
        take_news(stub);
    }
    return stub->stops > 0;
}

bool wire_drain(struct stub *stub)
{
    struct pollfd wait = {.fd = stub->file, .events = POLLIN};
    unsigned before = stub->stops, buffers = 0;

    for (;;) {
        if (feed(stub) == REMOTE_PACKET)
            take_news(stub);
        else if (stub->in_at == stub->in_end &&
                 (stub->machine.reason != MACHINE_LIVES ||
                  poll(&wait, 1, 0) <= 0 || ++buffers > DRAINED_MAX ||
                  !fill(stub, 0)))
            return stub->stops != before;
    }
}

const char *wire_ask(struct stub *stub, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    put_packet(stub, format, words);
    va_end(words);
    wire_send(stub);
    if (wire_receive(stub) != WIRE_DATA)
        return "";
    return (const char *)stub->reader.data;
}
