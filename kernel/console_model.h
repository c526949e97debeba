/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONSOLE_MODEL_H
#define CONSOLE_MODEL_H

/*
 * The serial port in causal experiments (<prof/causal.h>): a queue with one
 * server, which takes as long for its bytes as it does. Whoever writes waits
 * for it as for any device: the wait is in no target's time, and ends by the
 * virtual clock. Contexts: thread.
 */

#include <stddef.h>
#include <stdint.h>

/* Writes as uart_write() does. (tsc_hz): of the TSC. */
void console_model_write(uint16_t port, const char *text, size_t bytes,
                         uint64_t tsc_hz);

#endif
