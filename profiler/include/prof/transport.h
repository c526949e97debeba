/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRANSPORT_H
#define PROF_TRANSPORT_H

/*
 * Level 3 of the port (<prof/port.h>): transports carry packets
 * (<prof/format.h>) out of the image and commands into it.
 *
 *     prof_init(...);
 *     prof_transport_choose(list, count);   once, before prof_start()
 *     a few times a second, if              while ((c = uart_read()) >= 0 &&
 *     prof_poll() is not used:                     !prof_command_byte(c)) ;
 *     prof_transport_end(code);             at exit, or
 *     prof_transport_panic(code);           in a panic
 */

#include <prof/config.h>
#include <prof/text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A transport that the image provides. Contexts of all its functions: thread;
 * of send(), also the sampling interrupt if (in_interrupt) is set. */
struct prof_transport {
    const char *name; /* as in prof.out=name */

    /* Detects and initialises the device. Returns false if there is none. */
    bool (*open)(void);

    /* Sends one packet, whole or not at all, and keeps no pointer to it. May
     * wait for up to 0.1 s. Returns false if the device is busy; the packet is
     * offered again at the next drain. */
    bool (*send)(const void *packet, size_t bytes);

    /* Waits, for a short time, until the device has sent all packets. Called at
     * the end of the stream, and when send() has refused one of the last
     * packets, which is then offered again. NULL: send() returns only when the
     * packet is sent. */
    void (*finish)(void);

    /* Returns a received byte, or -1 if there is none. NULL: output only; as
     * readers then cannot request definitions, the stream repeats them more
     * often. */
    int (*receive)(void);

    /* Whether send() may be called in the sampling interrupt, when
     * prof_port_busy() (<prof/port.h>) returns false. It MUST NOT wait then. If
     * false, samples of a program that does not yield stay queued. */
    bool in_interrupt;
};

/*
 * Opens the transport that prof.out names, and begins the stream on it. The
 * transports are the (count) in (list), in order of preference; "shm", the
 * profiler's own, in prof.share KiB from prof_port_alloc(); and "serial", which
 * is built in (<prof/port.h>) if (list) has none. If the transport named cannot
 * be opened, prints a line and uses the next one in (list); or the first one,
 * if (list) does not contain it. An empty (list) has only the built-in ones.
 *
 * If the image does not call it, prof_start() does, with an empty list.
 * Contexts: boot, after prof_init() and before prof_start(). Returns the
 * transport, valid as long as (list); NULL if prof.out is "off" or no transport
 * can be opened.
 */
const struct prof_transport *
prof_transport_choose(const struct prof_transport *list, size_t count);

/* Begins a new stream on (transport), which is open, regardless of prof.out:
 * for a reader that connects at run time. NULL: no stream. The old stream ends
 * without a BYE event. Contexts: thread, sampling stopped. */
void prof_transport_use(const struct prof_transport *transport);

/* Ends the stream when the image exits with (code): sends the remaining packets
 * and a BYE event. May be called again. Contexts: thread, sampling stopped. */
void prof_transport_end(uint32_t code);

/*
 * Ends the stream in a panic with exit code (code): sends the samples already
 * drained, then those still queued, and a BYE event. Allocates nothing, reads
 * no other stack, and needs 4 KiB of stack. It may fault if the image's heap is
 * damaged, so print all other messages first. Contexts: any, even inside
 * another call, with interrupts off; once, with no other call after it.
 */
void prof_transport_panic(uint32_t code);

/*
 * Calls (work) with (context), and accounts for its time as the profiler's own:
 * for work of a transport outside the functions above, such as the handler of
 * its connection. Samples in (work), and in the named functions that it calls,
 * are in no share, provided that they have callers. Contexts: those of (work).
 */
#if PROF_WITH_STREAM
void prof_transport_work(void (*work)(void *context), void *context);
#else
static inline void prof_transport_work(void (*work)(void *context),
                                       void *context)
{
    work(context);
}
#endif

/* Writes the (bytes) bytes of (packet) to (sink) as lines of text
 * (<prof/format.h>), in pieces. The sink MUST be at the beginning of a line,
 * and MUST NOT accept other output until the call returns. Contexts: thread. */
void prof_transport_text(const void *packet, size_t bytes,
                         prof_text_sink *sink);

/*
 * Receives one byte of a command line, which may have any value. At the end of
 * a line, executes the command and answers with one line through
 * prof_port_write(), which begins with "#prof! ". Then returns true, so that a
 * caller can stop reading and does not process endless garbage in one go.
 * Ignores empty lines. Contexts: thread, where prof_report() may be called.
 */
bool prof_command_byte(uint8_t byte);

/* Discards the line received so far. Contexts: thread. */
void prof_command_forget(void);

/*
 * Passes bytes from (receive), which returns -1 if there is none, to
 * prof_command_byte(): up to the end of one command, and at most 64 bytes. The
 * rest of an overlong line is discarded at once: for that, polls (receive) for
 * up to (drop_cycles) TSC cycles, even if there is no byte for a moment.
 * Returns whether a byte was received, so that more may follow soon. Contexts:
 * as prof_command_byte().
 */
bool prof_command_read(int (*receive)(void), uint32_t drop_cycles);

#ifdef __cplusplus
}
#endif

#endif
