/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAST_WORD_H
#define LAST_WORD_H

/*
 * What arch says on its own, straight to COM1, where the kernel cannot be
 * asked: before it runs, and when its own exception handler has failed.
 */

#include <stdint.h>

/* Exit codes seen by whoever started QEMU; 101 is the kernel's panic. */
#define LAST_WORD_EXIT_NESTED 102u  /* exception while handling an exception */
#define LAST_WORD_EXIT_NO_BOOT 103u /* nothing that could be booted on */

/* Prints (text). Waits for a dead UART at most about 0.1 s. Contexts: any. */
void last_word(const char *text);

/* Prints (value) as 0x and hexadecimal digits. Contexts: any. */
void last_word_hex(uintptr_t value);

/* Ends the machine with (code) where somebody listens, or stops for good. */
void last_word_exit(uint8_t code) __attribute__((noreturn));

#endif
