/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The transports for the profiler's packets, made from the kernel's devices and
 * sorted by speed: if the requested one is missing, the next one is used. The
 * console comes last, because it is always present.
 */

#include "prof_transports.h"

#include "console.h"
#include "prof_vsock.h"

#include <debugcon.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <prof/transport.h>
#include <prof/prof.h>
#include <malloc.h>
#include <prof/format.h>
#include <stddef.h>
#include <string.h>
#include <uart.h>
#include <virtio_queue.h>
#include <virtio_console.h>

/* Period of polling for commands, where the device does not interrupt; while
 * their bytes come; and how long the rest of an overlong one is dropped each
 * time. */
#define LISTEN_NS 25000000ull
#define LISTEN_SOON_NS 1000000ull
#define LISTEN_DROP_PART 4000u /* of a second */

#define ANSWER_BYTES 256 /* of a line; longer ones are truncated */

static const struct prof_transport *transport; /* in use; NULL = none */
static void nothing(void)
{
}

static void (*after_command)(void) = nothing; /* without a profiler */
static struct loop_timer listen_timer, soon_timer;
static volatile bool input_came; /* bytes have come since they were last read */

/* The line being printed while a command runs that did not come from the
 * console. It begins with a newline, which ends a packet that may be incomplete
 * there. */
static struct {
    bool (*send)(const void *line, size_t count); /* NULL: none runs */
    prof_text_sink *text;    /* gets all that is printed, or NULL */
    char line[ANSWER_BYTES]; /* "\n", then the text */
    size_t used;             /* bytes of the text */
} answer;

static int receive_console(void)
{
    return console_read();
}

static bool listen_uart2(void (*call)(void))
{
    return uart_listen(UART_COM2, call);
}

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

static bool open_virtio(void)
{
    return !console_is_virtio() && virtio_console_start(pages);
}

static bool open_uart2(void)
{
    return uart_start(UART_COM2) == 0;
}

static bool send_uart2(const void *packet, size_t bytes)
{
    return uart_write(UART_COM2, packet, bytes) == bytes;
}

static void finish_uart2(void)
{
    uart_finish(UART_COM2);
}

static int receive_uart2(void)
{
    return uart_read(UART_COM2);
}

static bool send_e9(const void *packet, size_t bytes)
{
    debugcon_write(packet, bytes);
    return true;
}

static bool open_serial(void)
{
    return true;
}

/* Packets must be on lines of their own. */
static bool send_serial(const void *packet, size_t bytes)
{
    console_fresh_line();
    prof_transport_text(packet, bytes, console_write);
    return true;
}

static const struct prof_transport transports[] = {
    {"vsock", prof_vsock_open, prof_vsock_send, prof_vsock_finish,
     prof_vsock_receive, true},
    {"virtio", open_virtio, virtio_console_send, virtio_console_finish,
     virtio_console_receive, true},
    {"uart2", open_uart2, send_uart2, finish_uart2, receive_uart2, false},
    {"e9", debugcon_present, send_e9, NULL, NULL, false},
    {"serial", open_serial, send_serial, NULL, NULL, false},
};

static void end_answer_line(void)
{
    size_t mark = strlen(PROF_ANSWER_MARK);

    answer.line[0] = '\n';
    answer.line[++answer.used] = '\n';
    if (answer.used > mark &&
        memcmp(answer.line + 1, PROF_ANSWER_MARK, mark) == 0)
        (void)answer.send(answer.line, answer.used + 1);
    answer.used = 0;
}

void prof_transports_wrote(const char *text, size_t bytes)
{
    if (answer.send == NULL)
        return;
    if (answer.text != NULL)
        answer.text(text, bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n')
            end_answer_line();
        else if (answer.used < ANSWER_BYTES - 2)
            answer.line[++answer.used] = text[i];
    }
}

/* Where an answer goes: a device has one reader, but a port has several. */
static bool (*answerer(void))(const void *line, size_t count)
{
    if (transport == NULL || transport->receive == NULL)
        return NULL;
    return transport->send == prof_vsock_send ? prof_vsock_answer
                                              : transport->send;
}

/* Executes one command at most. A UART has a few bytes at a time: more may come
 * soon. */
static void on_listen(void *unused)
{
    bool duplex = transport != NULL && transport->receive != NULL, more;

    (void)unused;
    answer.send = answerer();
    more = prof_command_read(duplex ? transport->receive : receive_console,
                             (uint32_t)(clock_tsc_hz() / LISTEN_DROP_PART));
    answer.send = NULL;
    if (!more)
        return;
    after_command();
    loop_once(&soon_timer, LISTEN_SOON_NS, on_listen, NULL);
}

static void note_input(void)
{
    input_came = true;
}

static bool has_input(void)
{
    return input_came;
}

static void listen_turn(void)
{
    if (!input_came)
        return;
    input_came = false;
    on_listen(NULL);
}

/* Has (call) called in an interrupt when bytes come to what is listened to.
 * False: no interrupt says so. */
static bool begin_listening(void (*call)(void))
{
    if (transport == NULL || transport->receive == NULL)
        return console_listen(call);
    if (transport->receive == virtio_console_receive)
        return virtio_console_listen(call);
    return transport->receive == receive_uart2 && listen_uart2(call);
}

/* By interrupts where the device has them. */
static void listen(void)
{
    static struct loop_source source = {.waiting = has_input,
                                        .turn = listen_turn};

    listen_timer.own = soon_timer.own = true;
    if (begin_listening(note_input))
        loop_add(&source);
    else
        loop_every(&listen_timer, LISTEN_NS, on_listen, NULL);
}

static void give(const char *line, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)prof_command_byte((uint8_t)line[i]);
    (void)prof_command_byte('\n');
}

void prof_transports_command(const char *line, size_t count,
                             prof_text_sink *text,
                             bool (*to)(const void *line, size_t count))
{
    prof_command_forget(); /* what somebody types on the console */
    answer.send = to;
    answer.text = text;
    give(line, count);
    answer.send = NULL;
    answer.text = NULL;
    after_command();
}

void prof_transports_start(void (*commanded)(void))
{
    after_command = commanded;
    transport = prof_transport_choose(transports,
                                      sizeof transports / sizeof *transports);
    listen();
}

bool prof_transports_in_use(void)
{
    return transport != NULL;
}

static void print_sums(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    console_fresh_line();
    console_line(
        "prof: stream to %s: %lu samples, %lu of them discarded, "
        "%lu packets, %lu bytes",
        transport->name, (unsigned long)(stats.ticks + stats.forgotten),
        (unsigned long)stats.stream_discarded,
        (unsigned long)stats.stream_packets, (unsigned long)stats.stream_bytes);
    if (transport->send == prof_vsock_send)
        prof_vsock_print();
}

void prof_transports_end(int code)
{
    loop_cancel(&listen_timer);
    loop_cancel(&soon_timer);
    if (transport == NULL)
        return;
    prof_transport_end((uint32_t)code);
    print_sums();
    transport = NULL;
}
