/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The ways by which the profiler's packets leave this image, made from the
 * kernel's devices. The fastest comes first: that is the order in which they
 * stand in for one that is missing. The console comes last, being always there.
 */

#include "prof_ways.h"

#include <debugcon.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <prof/out.h>
#include <prof/prof.h>
#include <malloc.h>
#include <prof/format.h>
#include <stddef.h>
#include <string.h>
#include <uart.h>
#include <virtio.h>
#include <virtio_console.h>

/* How often it is looked whether a command has come in, and how much of it is
 * read each time: garbage that never ends costs no more than that. */
#define LISTEN_NS 25000000ull
#define LISTEN_BYTES 64

#define ANSWER_BYTES 256 /* of a line; a longer one is cut */

static const struct prof_out *way; /* that was taken; NULL = none */
static struct loop_timer listen_timer;

/* The line that is being printed while a command of the second line is obeyed.
 * A newline stands before it: whatever is under way there ends with it. */
static struct {
    bool open;
    char line[ANSWER_BYTES]; /* "\n", then the text */
    size_t used;             /* bytes of the text */
} answer;

static int receive_console(void)
{
    return uart_read(UART_COM1);
}

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

static bool open_virtio(void)
{
    return virtio_console_start(pages);
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

/* A line that the service has begun is ended: ours must be whole. */
static bool send_serial(const void *packet, size_t bytes)
{
    console_fresh_line();
    prof_out_text(packet, bytes, console_write);
    return true;
}

static const struct prof_out ways[] = {
    {"virtio", open_virtio, virtio_console_send, virtio_console_finish,
     virtio_console_receive},
    {"uart2", open_uart2, send_uart2, finish_uart2, receive_uart2},
    {"e9", debugcon_present, send_e9, NULL, NULL},
    {"serial", open_serial, send_serial, NULL, NULL},
};

static void end_answer_line(void)
{
    size_t mark = strlen(PROF_ANSWER_MARK);

    answer.line[0] = '\n';
    answer.line[++answer.used] = '\n';
    if (answer.used > mark &&
        memcmp(answer.line + 1, PROF_ANSWER_MARK, mark) == 0)
        (void)way->send(answer.line, answer.used + 1);
    answer.used = 0;
}

void prof_ways_wrote(const char *text, size_t bytes)
{
    if (!answer.open)
        return;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n')
            end_answer_line();
        else if (answer.used < ANSWER_BYTES - 2)
            answer.line[++answer.used] = text[i];
    }
}

/* Reads up to the end of one command. */
static void listen_to(int (*receive)(void))
{
    for (unsigned i = 0; i < LISTEN_BYTES; i++) {
        int byte = receive();

        if (byte < 0 || prof_command_byte((uint8_t)byte))
            return;
    }
}

static void on_listen(void *unused)
{
    bool second = way != NULL && way->receive != NULL;

    (void)unused;
    answer.open = second;
    listen_to(second ? way->receive : receive_console);
    answer.open = false;
}

void prof_ways_start(void)
{
    way = prof_out_choose(ways, sizeof ways / sizeof *ways);
    loop_every(&listen_timer, LISTEN_NS, on_listen, NULL);
}

static void say_sums(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    console_fresh_line();
    console_line("prof: stream to %s: %lu samples, %lu of them discarded, "
                 "%lu packets, %lu bytes",
                 way->name, (unsigned long)(stats.ticks + stats.forgotten),
                 (unsigned long)stats.stream_discarded,
                 (unsigned long)stats.stream_packets,
                 (unsigned long)stats.stream_bytes);
}

void prof_ways_end(int code)
{
    loop_cancel(&listen_timer);
    if (way == NULL)
        return;
    prof_out_end((uint32_t)code);
    say_sums();
    way = NULL;
}
