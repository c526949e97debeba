/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_OUT_H
#define PROF_OUT_H

/*
 * Level 3 of the port (<prof/port.h>): ways for packets to leave the image,
 * and for commands to come in. An image that has none leaves all of this out.
 *
 *     prof_init(...);
 *     prof_out_choose(outs, count);      once, before prof_start()
 *     a few times a second:              while ((c = uart_read()) >= 0 &&
 *                                               !prof_command_byte(c)) ;
 *     prof_out_end(code);                last of all,
 *     prof_out_panic(code);              or in a panic
 *
 * What packets look like is written in <prof/format.h>.
 */

#include <prof/text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One way out, given by the image. Contexts of all its functions: thread. */
struct prof_out {
    const char *name; /* as in prof.out=name */

    /* Looks for the device and makes it ready; false: there is none. */
    bool (*open)(void);

    /*
     * Sends one packet of (bytes) bytes, whole or not at all, and keeps no
     * pointer to it. False: not now; it is offered again at the next drain.
     * Waits for a tenth of a second at most.
     */
    bool (*send)(const void *packet, size_t bytes);

    /* Waits, not for long, until all that was sent is out. NULL: it is. */
    void (*finish)(void);

    /* A byte that came in, or -1 for none; NULL where nothing comes in. */
    int (*receive)(void);
};

/*
 * Takes the way out that prof.out names: one of the (count) in (outs), whose
 * order is that of preference, or "shm", which is the profiler's own (memory
 * from prof_port_alloc(), prof.share KiB). Where that one is missing, the next
 * one after it in (outs) is taken and a line says so; after "shm", the first.
 *
 * Contexts: boot, after prof_init() and before prof_start(). Returns what was
 * taken, which lives as long as (outs); NULL where nothing was asked for or
 * nothing works.
 */
const struct prof_out *prof_out_choose(const struct prof_out *outs,
                                       size_t count);

/*
 * Packets go to (out), which is open, from now on, whatever prof.out says: for
 * a reader who comes at run time. NULL: to nobody. A new stream begins; one
 * that is on its way ends without a last event. Contexts: thread, sampling
 * stopped.
 */
void prof_out_use(const struct prof_out *out);

/*
 * The image ends with exit code (code): sends what is left and a last event.
 * Contexts: thread, sampling stopped. May be repeated.
 */
void prof_out_end(uint32_t code);

/*
 * The image panics, with exit code (code): sends what was drained, then what
 * was not, and a last event. Nothing is allocated, and no stack is read but
 * this one, of which 4 KiB are enough. The sampler must not be called any more.
 *
 * Contexts: interrupts off, otherwise any, also in the middle of any other
 * call; once. It may fault where the image's heap is damaged: whatever else is
 * to be said should be said before.
 */
void prof_out_panic(uint32_t code);

/*
 * Writes (packet) as lines of text (<prof/format.h>) to (sink), in pieces. The
 * sink must be at the beginning of a line, and let nobody else in until the
 * call returns. Contexts: thread.
 */
void prof_out_text(const void *packet, size_t bytes, prof_text_sink *sink);

/*
 * Takes one byte of a command from outside. At the end of a line it obeys, or
 * says what is wrong with it, and writes an answer through prof_port_write(),
 * one line that begins with "#prof! ". Returns true then: whoever reads a
 * line that may be full of garbage stops there until the next time. An empty
 * line is none.
 *
 * Contexts: thread, where prof_report() may be called. Anything may be fed to
 * it; the work for a byte is bounded, but for the command's own.
 */
bool prof_command_byte(uint8_t byte);

#ifdef __cplusplus
}
#endif

#endif
