/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMERGENCY_CONSOLE_H
#define EMERGENCY_CONSOLE_H

/*
 * The emergency console: output to COM1 by polling, for errors before the
 * kernel runs and for faults in the kernel's own exception handler.
 */

#include <stdint.h>

/* Arguments of emergency_exit(); 101 is the kernel's panic. */
#define EMERGENCY_EXIT_NESTED 102u  /* exception while handling an exception */
#define EMERGENCY_EXIT_NO_BOOT 103u /* the CPU, RAM or loader is unsuitable */

/* Prints (text). Waits at most about 0.1 s for a dead UART. Contexts: any. */
void emergency_print(const char *text);

/* Prints (value) as 0x and all hexadecimal digits. Contexts: any. */
void emergency_print_hex(uintptr_t value);

/* Ends QEMU through its debug exit device, or halts. Contexts: any. */
void emergency_exit(uint8_t code) __attribute__((noreturn));

#endif
