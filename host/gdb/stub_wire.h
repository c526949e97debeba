/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUB_STUB_WIRE_H
#define STUB_STUB_WIRE_H

/* Packets to and from a stub: below stub.h, and for it alone. */

#include "gdb/stub.h"

enum wire_answer {
    WIRE_DATA,    /* in stub->reader */
    WIRE_DAMAGED, /* an answer came, but cannot be read */
    WIRE_ENDED,   /* there will be none; stub->machine.reason says why */
};

/* Queues a packet, the acknowledgement that is owed, a request to stop; sends
 * what is queued. */
void wire_put(struct stub *stub, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void wire_put_ack(struct stub *stub);
void wire_put_interrupt(struct stub *stub);
void wire_send(struct stub *stub);

/* Begins a question: all its answers are due within stub->timeout, however
 * they come, and soon if a signal has been caught. */
void wire_question(struct stub *stub);

/* The next packet that is an answer. Stop replies before the first one are
 * counted in stub->stops, other output is skipped. A later stop reply means
 * that somebody else let the guest run: what was asked is lost. */
enum wire_answer wire_receive(struct stub *stub);

/* Waits for a stop reply; false if none comes. */
bool wire_receive_stop(struct stub *stub);

/* Takes what came without being asked for; true if that was a stop. */
bool wire_drain(struct stub *stub);

/* Sends a packet and waits: its answer, "" if there is none. Valid until the
 * next packet. wire_ask() begins a question, wire_ask_on() goes on with one. */
const char *wire_ask(struct stub *stub, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *wire_ask_on(struct stub *stub, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whatever has been sent so far: has the guest run without us, unless somebody
 * else held it, and waits a little for the answer. For a signal handler, too.
 */
void wire_let_go(struct stub *stub);

#endif
