/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CONSOLE_START_H
#define KERNEL_CONSOLE_START_H

#include <stdbool.h>

/*
 * Detects the serial port, or else QEMU's debug port. Contexts: boot, once.
 */
void console_start(void);

/*
 * Takes a virtio console, if there is neither of them, and prints what was
 * printed so far, up to 2 KiB. Without any, output is discarded. Contexts:
 * thread, once, with a heap.
 */
void console_start_late(void);

/* Whether the console is a virtio console, which nobody else can then use. */
bool console_is_virtio(void);

/* The next byte that was typed, or -1. Contexts: thread. */
int console_read(void);

/* Calls (on_input) in an interrupt when bytes have been typed, at least once
 * before console_read() has returned all of them. False: the console has no
 * interrupt, and must be polled. Contexts: thread. */
bool console_listen(void (*on_input)(void));

/* Waits until all is printed, before the machine ends. Contexts: any. */
void console_finish(void);

/* Whether this CPU is in a call of console_write(). Contexts: any. */
bool console_in_use(void);

/* The calling CPU may print, even if another one has stopped in the middle of a
 * line (arch_cpus_stop_others()). Contexts: any. */
void console_seize(void);

#endif
