/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRANSPORT_H
#define PROF_TRANSPORT_H

/*
 * Level 3 of the port (<prof/port.h>): transports carry packets
 * (<prof/format.h>) out of the image and commands into it.
 *
 *     prof_init(...);
 *     prof_transport_choose(list, count);   once, before prof_start()
 *     a few times a second, without         while ((c = uart_read()) >= 0 &&
 *     prof_poll():                                 !prof_command_byte(c)) ;
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

/* One transport, given by the image. Contexts of all its functions: thread, but
 * for what in_interrupt allows. */
struct prof_transport {
    const char *name; /* as in prof.out=name */

    /* Detects and initialises the device; false: there is none. */
    bool (*open)(void);

    /* Sends one packet, whole or not at all, and keeps no pointer to it. May
     * wait for up to 0.1 s. False: the device is busy; the packet is offered
     * again at the next drain. */
    bool (*send)(const void *packet, size_t bytes);

    /* Waits a short time until the device has sent everything: at the stream's
     * end, and before it if send() refuses one of the last packets, which is
     * offered again then. NULL: send() returns only then. */
    void (*finish)(void);

    /* Returns a received byte, or -1 for none. NULL: output only; as readers
     * cannot ask then, the stream repeats itself more often. */
    int (*receive)(void);

    /* Whether send() may be called in the sampling interrupt, where
     * prof_port_busy() (<prof/port.h>) returns false: it never waits. With
     * false, samples of a program that does not yield stay queued. */
    bool in_interrupt;
};

/*
 * Opens the transport that prof.out names: one of the (count) in (list), in
 * order of preference, or "shm", the profiler's own (memory from
 * prof_port_alloc(), prof.share KiB). If it is missing, the next one in (list)
 * is used, after "shm" the first, and a line is printed. Without a list, or if
 * it has no "serial", that is built in (<prof/port.h>).
 *
 * Contexts: boot, after prof_init() and before prof_start(). Returns the
 * transport, valid as long as (list); NULL if prof.out is "off" or none works.
 */
const struct prof_transport *
prof_transport_choose(const struct prof_transport *list, size_t count);

/* Begins a new stream on (transport), which is open, regardless of prof.out:
 * for a reader that connects at run time. NULL: no stream. The old stream ends
 * without a BYE event. Contexts: thread, sampling stopped. */
void prof_transport_use(const struct prof_transport *transport);

/* Ends the stream when the image exits with (code): sends what is left and a
 * BYE event. Contexts: thread, sampling stopped. May be called again. */
void prof_transport_end(uint32_t code);

/*
 * Ends the stream in a panic with exit code (code): sends what was drained,
 * then what was not, and a BYE event. Allocates nothing, reads no other stack,
 * and needs 4 KiB of its own. Contexts: interrupts off, otherwise any, even
 * inside another call; once, and no other call follows. It may fault if the
 * image's heap is damaged, so print all other messages first.
 */
void prof_transport_panic(uint32_t code);

/*
 * Calls (work) with (context): what a transport does outside of the functions
 * above, such as a handler of its connection. Samples in it, and in the named
 * functions that it calls, are the profiler's own and in no share, as far as
 * they have callers. Contexts: those of (work).
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

/* Writes (packet) as lines of text (<prof/format.h>) to (sink), in pieces. The
 * sink must be at the beginning of a line, and must accept no other output
 * until the call returns. Contexts: thread. */
void prof_transport_text(const void *packet, size_t bytes,
                         prof_text_sink *sink);

/*
 * Receives one byte of a command, any. At the end of a line it executes the
 * command and answers with one line through prof_port_write(), which begins
 * with "#prof! ". Returns true then, so that a caller can stop reading and does
 * not process an endless stream of garbage in one go. Empty lines are ignored.
 * Contexts: thread, where prof_report() may be called.
 */
bool prof_command_byte(uint8_t byte);

/* Drops what came of a line that has not ended. Contexts: thread. */
void prof_command_forget(void);

/*
 * Passes on what (receive) returns, -1 for nothing: to the end of one command,
 * and at most 64 bytes. The rest of a line that is too long is dropped at once:
 * for that, the call goes on for up to (drop_cycles) of the TSC, also where a
 * UART has nothing for a moment. Returns whether a byte came, and more may
 * soon. Contexts: as for prof_command_byte().
 */
bool prof_command_read(int (*receive)(void), uint32_t drop_cycles);

#ifdef __cplusplus
}
#endif

#endif
