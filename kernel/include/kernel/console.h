/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes to the serial console; "\n" goes out as "\r\n". Contexts: any. */
void console_write(const char *text, size_t bytes);

/* Ends the present line, where one is begun. Contexts: thread. */
void console_fresh_line(void);

/*
 * One line with printf's formats (no floating point needs the heap here: do
 * not use it). At most 255 bytes, longer ones end in "...". Contexts: thread.
 */
void console_line(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif
