/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serial console. What is written goes out at once, byte by byte: an image
 * that dies has said everything it meant to say.
 */

#include <kernel/console.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uart.h>

#define LINE_MAX 255u

void console_write(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n')
            uart_write('\r');
        uart_write(text[i]);
    }
}

void console_line(const char *format, ...)
{
    char line[LINE_MAX + 1];
    va_list arguments;

    va_start(arguments, format);
    int bytes = vsnprintf(line, sizeof line, format, arguments);

    va_end(arguments);
    if (bytes < 0)
        return;
    if ((size_t)bytes > LINE_MAX)
        memcpy(line + LINE_MAX - 3, "...", 4);
    console_write(line, strlen(line));
    console_write("\n", 1);
}
