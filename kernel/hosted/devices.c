/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The devices of the kernel that a process has in another form: the serial
 * lines are its standard streams and a file, the machine's clock is Linux's,
 * and to end is exit(). Others are absent.
 */

#include "../prof_vsock.h"
#include "interrupts.h"
#include "start.h"

#include <arch/cpu.h>
#include <arch/features.h>
#include <cmos.h>
#include <debug_exit.h>
#include <debugcon.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tsc.h>
#include <uart.h>
#include <unistd.h>
#include <virtio_console.h>
#include <virtio_irq.h>
#include <virtio_mmio.h>
#include <virtio_queue.h>

#define NS_IN_S 1000000000

/* ---- serial lines */

static int second = -1; /* the file of UART_COM2 */

static int file_of(uint16_t port)
{
    return port == UART_COM1 ? STDOUT_FILENO : second;
}

int uart_start(uint16_t port)
{
    if (port == UART_COM2 && second < 0 && hosted_stream() != NULL)
        second = open(hosted_stream(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                      0666);
    return file_of(port) < 0 ? -1 : 0;
}

/* The console's own line ends are those of a terminal. */
static size_t without_returns(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\r', bytes);

    return end != NULL ? (size_t)(end - text) : bytes;
}

static bool write_all(int file, const char *text, size_t bytes)
{
    while (bytes != 0) {
        ssize_t written = write(file, text, bytes);

        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            bytes -= (size_t)written;
        }
    }
    return true;
}

size_t uart_write(uint16_t port, const char *text, size_t bytes)
{
    size_t done = 0;

    if (port == UART_COM2)
        return write_all(second, text, bytes) ? bytes : 0;
    while (done < bytes) {
        size_t piece = without_returns(text + done, bytes - done);

        if (!write_all(STDOUT_FILENO, text + done, piece))
            return done;
        done += piece;
        done += done < bytes; /* the '\r' */
    }
    return bytes;
}

bool uart_empty(uint16_t port)
{
    (void)port;
    return true;
}

bool uart_ready(uint16_t port)
{
    (void)port;
    return true;
}

void uart_finish(uint16_t port)
{
    (void)port;
}

/* Commands to the profiler are typed. */
int uart_read(uint16_t port)
{
    static bool ended;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char byte;

    if (port != UART_COM1 || ended || poll(&input, 1, 0) <= 0)
        return -1;
    if (read(STDIN_FILENO, &byte, 1) == 1)
        return byte;
    ended = true;
    return -1;
}

/* ---- clocks */

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_IN_S + (uint64_t)now.tv_nsec;
}

/* Linux's clock and the TSC at the same time: the pair that was read fastest of
 * several, for a busy host may stop the process between the two. */
static uint64_t read_pair(uint64_t *tsc)
{
    uint64_t best = UINT64_MAX, ns = 0;

    for (int i = 0; i < 64; i++) {
        uint64_t before = arch_tsc(), at = monotonic_ns(), after = arch_tsc();

        if (after - before >= best)
            continue;
        best = after - before;
        ns = at;
        *tsc = before + best / 2;
    }
    return ns;
}

uint64_t tsc_calibrate_without_pit(const char **name)
{
    (void)name;
    return 0;
}

uint64_t tsc_calibrate(void)
{
    const struct timespec wait = {.tv_nsec = 50000000};
    uint64_t tsc, later_tsc, ns = read_pair(&tsc), later_ns;

    nanosleep(&wait, NULL);
    later_ns = read_pair(&later_tsc);
    return (uint64_t)((double)(later_tsc - tsc) * NS_IN_S /
                      (double)(later_ns - ns));
}

uint64_t cmos_unix_seconds(void)
{
    return (uint64_t)time(NULL);
}

/* ---- the end */

/* Also in the handler of a fault: nothing of the program runs any more. */
void debug_exit(uint8_t code)
{
    _exit(code);
}

/* ---- devices that there are none of */

bool debugcon_present(void)
{
    return false;
}

void debugcon_write(const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
}

bool virtio_console_start(void *(*allocate)(size_t bytes))
{
    (void)allocate;
    return false;
}

bool virtio_console_send(const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return false;
}

void virtio_console_finish(void)
{
}

int virtio_console_receive(void)
{
    return -1;
}

bool prof_vsock_set_port(const char *text)
{
    (void)text;
    return false;
}

bool prof_vsock_open(void)
{
    return false;
}

bool prof_vsock_send(const void *packet, size_t bytes)
{
    (void)packet;
    (void)bytes;
    return false;
}

void prof_vsock_finish(void)
{
}

int prof_vsock_receive(void)
{
    return -1;
}

bool prof_vsock_answer(const void *line, size_t bytes)
{
    (void)line;
    (void)bytes;
    return false;
}

bool prof_vsock_busy(void)
{
    return false;
}

void prof_vsock_print(void)
{
}

bool virtio_mmio_word(const char *word)
{
    (void)word;
    return false;
}

/* Standard input does not wake the loop up: it is read from time to time. */
bool uart_listen(uint16_t port, void (*on_input)(void))
{
    (void)port;
    (void)on_input;
    return false;
}

bool virtio_console_listen(void (*on_input)(void))
{
    (void)on_input;
    return false;
}

void virtio_irq_observe(void (*observe)(unsigned kind))
{
    (void)observe;
}

void virtio_observe(void (*observe)(const struct virtio_request *request))
{
    (void)observe;
}

void virtio_observe_put(uint32_t (*observe)(unsigned kind, unsigned queue))
{
    (void)observe;
}

/* A process lacks nothing: the host's kernel has what it needs. */
void arch_cpu_lacks(void (*say)(const char *name, const char *without))
{
    (void)say;
}
