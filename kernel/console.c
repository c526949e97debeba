/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console: COM1, or, on a machine without it, QEMU's debug port or a virtio
 * console. Output is not buffered, so nothing is lost when an image crashes,
 * but for two cases. A virtio console needs the heap, and what is printed
 * before is kept until then; and a line that an interrupt prints in the middle
 * of another one waits for that, since the device's queue can be changed by one
 * at a time.
 */

#include "console.h"

#include "console_model.h"
#include "lock.h"

#include <arch/cpu.h>
#include <debugcon.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <malloc.h>
#include <prof/causal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uart.h>
#include <virtio_console.h>
#include <virtio_queue.h>

#define LINE_MAX 255u

#define KEPT_BYTES 2048u

/* A panic may come before console_start() and must be printed. */
static enum {
    BY_SERIAL,
    BY_DEBUGCON,
    BY_VIRTIO,
    BY_NONE,
} by;
static char kept[KEPT_BYTES]; /* by virtio, or none yet */
static size_t kept_bytes;
static bool late_is_over; /* there will be no virtio console */
static bool in_line;      /* the last byte written was not a newline */
static struct lock lock;  /* while a call is in progress */

void console_start(void)
{
    if (uart_start(UART_COM1) == 0)
        by = BY_SERIAL;
    else
        by = debugcon_present() ? BY_DEBUGCON : BY_NONE;
}

static void keep(const char *text, size_t bytes)
{
    const bool on = arch_interrupts_save(); /* they may keep text, too */

    for (size_t i = 0; i < bytes && kept_bytes < KEPT_BYTES; i++)
        kept[kept_bytes++] = text[i];
    arch_interrupts_restore(on);
}

/* A host that takes no blocks for seconds loses text. */
static void put_virtio(const char *text, size_t bytes)
{
    while (bytes != 0) {
        const size_t some =
            bytes < VIRTIO_CONSOLE_BLOCK ? bytes : VIRTIO_CONSOLE_BLOCK;

        if (!virtio_console_send(text, some)) {
            virtio_console_finish();
            (void)virtio_console_send(text, some);
        }
        text += some;
        bytes -= some;
    }
}

static void put_kept(void)
{
    const size_t bytes = kept_bytes;
    bool on;

    put_virtio(kept, bytes);
    on = arch_interrupts_save();
    for (size_t i = bytes; i < kept_bytes; i++)
        kept[i - bytes] = kept[i]; /* an interrupt has printed */
    kept_bytes -= bytes;
    arch_interrupts_restore(on);
}

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

void console_start_late(void)
{
    if (by == BY_NONE && virtio_console_start(pages)) {
        lock_take(&lock);
        by = BY_VIRTIO;
        put_kept();
        lock_give(&lock);
    }
    late_is_over = true;
}

bool console_is_virtio(void)
{
    return by == BY_VIRTIO;
}

/* An interrupt, or a crash, does not wait for virtual time. */
static void put_text(const char *text, size_t bytes)
{
    switch (by) {
    case BY_SERIAL:
        if (prof_causal_running() && (arch_flags() & ARCH_FLAGS_IF) != 0)
            console_model_write(UART_COM1, text, bytes, clock_tsc_hz());
        else
            uart_write(UART_COM1, text, bytes);
        break;
    case BY_DEBUGCON:
        debugcon_write(text, bytes);
        break;
    case BY_VIRTIO:
        if (lock.depth > 1)
            keep(text, bytes);
        else
            put_virtio(text, bytes);
        break;
    case BY_NONE:
        if (!late_is_over)
            keep(text, bytes);
        break;
    }
}

int console_read(void)
{
    switch (by) {
    case BY_SERIAL:
        return uart_read(UART_COM1);
    case BY_VIRTIO:
        return virtio_console_receive();
    default:
        return -1;
    }
}

bool console_listen(void (*on_input)(void))
{
    switch (by) {
    case BY_SERIAL:
        return uart_listen(UART_COM1, on_input);
    case BY_VIRTIO:
        return virtio_console_listen(on_input);
    default:
        return false;
    }
}

/* The machine ends: a call that a panic has interrupted will never go on, and
 * its use of the queue does not matter any more. */
void console_finish(void)
{
    if (by != BY_VIRTIO)
        return;
    if (kept_bytes != 0)
        put_kept();
    virtio_console_finish();
}

void console_write(const char *text, size_t bytes)
{
    const char *end = text + bytes;

    lock_take(&lock);
    if (bytes != 0)
        in_line = end[-1] != '\n';
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;

        put_text(text, (size_t)(stop - text));
        if (newline != NULL)
            put_text("\r\n", 2);
        text = stop + 1;
    }
    if (by == BY_VIRTIO && lock.depth == 1 && kept_bytes != 0)
        put_kept();
    lock_give(&lock);
}

bool console_in_use(void)
{
    return lock_is_mine(&lock);
}

void console_seize(void)
{
    lock_seize(&lock);
}

void console_fresh_line(void)
{
    if (in_line)
        console_write("\n", 1);
}

void console_line(const char *format, ...)
{
    char line[LINE_MAX + 2];
    va_list arguments;

    va_start(arguments, format);
    int bytes = vsnprintf(line, LINE_MAX + 1, format, arguments);

    va_end(arguments);
    if (bytes < 0)
        return;
    if ((size_t)bytes > LINE_MAX)
        memcpy(line + LINE_MAX - 3, "...", 4);
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    bytes = (int)strlen(line);
    line[bytes] = '\n';
    console_write(line, (size_t)bytes + 1);
}
