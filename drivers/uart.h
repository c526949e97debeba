/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UART_H
#define UART_H

/* A 16550 serial port, written and read by polling. It interrupts for what it
 * receives only where somebody listens. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UART_COM1 0x3f8u
#define UART_COM2 0x2f8u
#define UART_BAUD 115200u
#define UART_FIFO 16u /* bytes that it takes at once when it is empty */

/*
 * Sets port (port) to 115200 baud, 8 data bits, no parity, 1 stop bit, FIFOs
 * on. Returns 0, or -1 if there is no UART. Contexts: boot, thread.
 */
int uart_start(uint16_t port);

/*
 * Sends (bytes) bytes of (text) unchanged and returns how many were sent: fewer
 * only if the port accepted none for about 0.1 s. Contexts: any; a call that
 * interrupts another one for the same port mixes their output.
 */
size_t uart_write(uint16_t port, const char *text, size_t bytes);

/* Whether it takes UART_FIFO bytes now; ready: after a wait of at most about
 * 0.1 s. Contexts: any. */
bool uart_empty(uint16_t port);
bool uart_ready(uint16_t port);

/* Waits until all is sent, at most about 0.1 s. Contexts: any. */
void uart_finish(uint16_t port);

/* The next received byte, or -1. Contexts: any. */
int uart_read(uint16_t port);

/*
 * Calls (on_input) in an interrupt when bytes come to a (port) without any: the
 * next call follows only when uart_read() has returned -1 since. For bytes that
 * are there already it is called at once, with interrupts off. False: the
 * port's interrupt is somebody else's; it must be read from time to time.
 * Contexts: thread.
 */
bool uart_listen(uint16_t port, void (*on_input)(void));

#endif
