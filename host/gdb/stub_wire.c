/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to and from a stub.
 *
 * Acknowledgements go out before the next packet, never by themselves: QEMU
 * takes any byte that comes while the guest runs for a request to stop it.
 */

#include "gdb/stub_wire.h"

#include "base/seconds.h"
#include "base/signals.h"
#include "base/wait.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INTERRUPT '\x03'
#define ASK_MAX 512
#define HURRY_SECONDS 1.0 /* for all answers after Ctrl-C */
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

void wire_question(struct stub *stub)
{
    stub->deadline = seconds_now() + stub->timeout;
}

/* Nothing came in time. */
static void end_late(struct stub *stub)
{
    end(stub, signals_caught() ? MACHINE_INTERRUPTED : MACHINE_SILENT);
}

void wire_send(struct stub *stub)
{
    size_t sent = 0;

    while (sent < stub->out_used && stub->machine.reason == MACHINE_LIVES) {
        ssize_t count =
            send(stub->file, stub->out + sent, stub->out_used - sent,
                 MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count > 0)
            sent += (size_t)count;
        else if (count < 0 && errno != EINTR && errno != EAGAIN)
            end(stub, MACHINE_GONE);
        else if (!wait_writable(stub->file, stub->deadline, HURRY_SECONDS))
            end_late(stub);
        stub->cut = sent < stub->out_used;
    }
    stub->out_used = 0;
}

/* Takes what has come. */
static void take_bytes(struct stub *stub)
{
    ssize_t count = recv(stub->file, stub->in, sizeof stub->in, MSG_DONTWAIT);

    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        end(stub, MACHINE_GONE);
    stub->in_at = 0;
    stub->in_end = count > 0 ? (size_t)count : 0;
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

/* The next event of the present question. What has come by its deadline is
 * taken; a stub that sends a byte now and then is late as well. */
static enum remote_event next(struct stub *stub)
{
    for (bool late = false; stub->machine.reason == MACHINE_LIVES;) {
        enum remote_event event = feed(stub);

        if (event != REMOTE_MORE)
            return event;
        if (late || !wait_readable(stub->file, stub->deadline, HURRY_SECONDS)) {
            end_late(stub);
            break;
        }
        late = seconds_now() >= wait_deadline(stub->deadline, HURRY_SECONDS);
        take_bytes(stub);
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
    unsigned before = stub->stops;

    for (unsigned buffers = 0; buffers < DRAINED_MAX;) {
        enum remote_event event = feed(stub);

        if (event == REMOTE_PACKET)
            take_news(stub);
        if (event != REMOTE_MORE)
            continue;
        if (stub->machine.reason != MACHINE_LIVES ||
            !wait_readable(stub->file, 0, 0))
            break;
        take_bytes(stub);
        ++buffers;
    }
    return stub->stops != before;
}

static const char *ask(struct stub *stub)
{
    wire_send(stub);
    if (wire_receive(stub) != WIRE_DATA)
        return "";
    return (const char *)stub->reader.data;
}

const char *wire_ask_on(struct stub *stub, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    put_packet(stub, format, words);
    va_end(words);
    return ask(stub);
}

const char *wire_ask(struct stub *stub, const char *format, ...)
{
    va_list words;

    wire_question(stub);
    va_start(words, format);
    put_packet(stub, format, words);
    va_end(words);
    return ask(stub);
}

/* Reads until the whole of (answer) has come. Closing a socket with unread
 * bytes could take back what was sent. */
static void wait_for_answer(int file, const char *answer)
{
    double deadline = seconds_now() + HURRY_SECONDS;
    struct pollfd wait = {.fd = file, .events = POLLIN};
    size_t matched = 0;
    char bytes[256];

    while (answer[matched] != '\0' && seconds_now() < deadline) {
        ssize_t count = 0;

        if (poll(&wait, 1, (int)(HURRY_SECONDS * 1000)) > 0)
            count = recv(file, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count <= 0)
            return;
        for (ssize_t i = 0; i < count && answer[matched] != '\0'; ++i)
            matched = bytes[i] == answer[matched] ? matched + 1
                                                  : bytes[i] == answer[0];
    }
}

/* A stop, so that the rest is read at all, and "detach". In front of them the
 * end of a packet that was sent in part. */
void wire_let_go(struct stub *stub)
{
    static const char bytes[] = "#00\x03$D#44";
    size_t skipped = stub->cut ? 0 : 3;

    if (stub->machine.held || stub->machine.reason == MACHINE_EXITED ||
        stub->machine.reason == MACHINE_GONE)
        return;
    if (send(stub->file, bytes + skipped, sizeof bytes - 1 - skipped,
             MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        wait_for_answer(stub->file, "$OK#9a");
}
