/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serial console. Output is not buffered, so nothing is lost when an image
 * crashes.
 */

#include "console.h"

#include "console_model.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <prof/causal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uart.h>

#define LINE_MAX 255u

/* Set by console_start(); a panic may come before that and must be printed. */
static bool absent;
static bool in_line;           /* the last byte written was not a newline */
static volatile uint32_t uses; /* calls in progress */

void console_start(void)
{
    absent = uart_start(UART_COM1) != 0;
}

/* An interrupt, or a crash, does not wait for virtual time. */
static void put(const char *text, size_t bytes)
{
    if (prof_causal_running() && (arch_flags() & ARCH_FLAGS_IF) != 0)
        console_model_write(UART_COM1, text, bytes, clock_tsc_hz());
    else
        uart_write(UART_COM1, text, bytes);
}

void console_write(const char *text, size_t bytes)
{
    const char *end = text + bytes;

    uses++;
    if (bytes != 0)
        in_line = end[-1] != '\n';
    while (!absent && text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;

        put(text, (size_t)(stop - text));
        if (newline != NULL)
            put("\r\n", 2);
        text = stop + 1;
    }
    uses--;
}

bool console_in_use(void)
{
    return uses != 0;
}

void console_fresh_line(void)
{
    if (in_line)
        console_write("\n", 1);
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
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    console_write(line, strlen(line));
    console_write("\n", 1);
}
