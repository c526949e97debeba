/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that does whatever it is given over its console, one line at a time
 * and each answered with one:
 *
 *     work NAME...   these kinds of work from now on; none: to be idle
 *     end            end the image
 *
 * The profiler's commands come over the stream's line, prof.out=virtio.
 *
 * In an image for several CPUs the others work as well. Each of them leaves the
 * profiler now and then, and joins it again.
 */

#include "work.h"

#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/cpus.h>
#include <string.h>
#include <uart.h>

#define LISTEN_NS 10000000ull
#define LINE_MAX 80u
#define SLICES_JOINED 64u /* until a CPU leaves, about */
#define WORKS_MAX 16u

static struct loop_timer listen_timer;
static char line[LINE_MAX + 1];
static size_t used;
static bool ended;

static struct work *find(const char *name)
{
    for (size_t i = 0; i < work_count; i++)
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    return NULL;
}

/* Takes the names in (rest). What is not wanted any more gives back first, so
 * that there is memory for the others. */
static const char *choose(char *rest)
{
    bool wanted[WORKS_MAX] = {false};

    for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) {
        struct work *work = find(name);

        if (work == NULL)
            return "no such work";
        wanted[work - works] = true;
    }
    for (size_t i = 0; i < work_count; i++) {
        if (works[i].wanted && !wanted[i] && works[i].leave != NULL)
            works[i].leave();
        works[i].wanted = wanted[i];
    }
    return NULL;
}

static void execute(void)
{
    const char *error = NULL;
    char copy[sizeof line];

    memcpy(copy, line, sizeof copy);
    if (strcmp(copy, "end") == 0)
        ended = true;
    else if (strncmp(copy, "work", 4) == 0)
        error = choose(copy + 4);
    else
        error = "work or end";
    if (error != NULL)
        console_line("toil: error: \"%s\": %s", line, error);
    else
        console_line("toil: ok %s", line);
}

static void listen(void *unused)
{
    int byte;

    (void)unused;
    while ((byte = uart_read(UART_COM1)) >= 0) {
        if (byte != '\n' && used < LINE_MAX) {
            line[used++] = (char)byte;
        } else if (byte == '\n') {
            line[used] = '\0';
            used = 0;
            execute();
        }
    }
}

/* ---- other CPUs */

static struct {
    struct cpu_message message;
    struct loop_timer rest;
    bool has_left;
} others[ARCH_CPUS_MAX];

/* While interrupts that sample come or do not. Who has left can join when the
 * drain has let it go. */
static void leave_or_join(unsigned cpu)
{
    bool on = arch_interrupts_save();

    if (others[cpu].has_left) {
        others[cpu].has_left = prof_cpu_join(cpu) != 0;
    } else {
        prof_cpu_leave();
        others[cpu].has_left = true;
    }
    arch_interrupts_restore(on);
}

/* A slice of everything, on another CPU, which then calls itself. */
static void labour(void *context)
{
    unsigned cpu = cpu_number();
    bool any = false;

    for (size_t i = 0; i < work_count; i++)
        if (works[i].everywhere && works[i].wanted) {
            any = true;
            works[i].slice();
        }
    if (others[cpu].has_left || dither(SLICES_JOINED) == 0)
        leave_or_join(cpu);
    if (any)
        cpu_send(cpu, &others[cpu].message);
    else
        loop_once(&others[cpu].rest, LISTEN_NS, labour, context);
}

static void start_others(void)
{
    for (unsigned i = 1; i < cpu_count(); i++) {
        others[i].message.function = labour;
        cpu_send(i, &others[i].message);
    }
}

int service_main(void)
{
    start_others();
    loop_every(&listen_timer, LISTEN_NS, listen, NULL);
    console_line("toil: ready");
    while (!ended) {
        bool any = false;

        for (size_t i = 0; i < work_count; i++) {
            any = any || works[i].wanted;
            if (works[i].wanted)
                works[i].slice();
        }
        if (any)
            loop_poll();
        else
            loop_wait();
    }
    return 0;
}
