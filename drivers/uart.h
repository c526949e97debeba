/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UART_H
#define UART_H

/* A 16550 serial port, written and read by polling. No interrupts are used. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UART_COM1 0x3f8u
#define UART_COM2 0x2f8u

/*
 * Sets port (port) to 115200 baud, 8 data bits, no parity, 1 stop bit, FIFOs
 * on. Returns 0, or -1 where there is no UART. Contexts: boot, thread.
 */
int uart_start(uint16_t port);

/*
 * Sends (bytes) bytes of (text) as they are and returns how many went out:
 * fewer only where the port took nothing for about 0.1 s. Contexts: any; not
 * while another call for the same port is interrupted, unless mixed lines do
 * not matter.
 */
size_t uart_write(uint16_t port, const char *text, size_t bytes);

/* Waits until all is sent, for about 0.1 s at most. Contexts: any. */
void uart_finish(uint16_t port);

/* A byte that was received, or -1 when there is none. Contexts: any. */
int uart_read(uint16_t port);

#endif
