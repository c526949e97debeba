/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes (bytes) bytes of (text) to the serial console, "\n" as "\r\n".
 * Contexts: any. */
void console_write(const char *text, size_t bytes);

/* Writes a newline unless the cursor is at the start of a line.
 * Contexts: thread. */
void console_fresh_line(void);

/*
 * Prints one line, formatted as by printf(), of at most 255 bytes; longer lines
 * are cut and end in "...". Do not use floating point, whose conversion
 * allocates. Prints '?' for a control character, as arguments may be untrusted.
 * Contexts: thread.
 */
void console_line(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif
