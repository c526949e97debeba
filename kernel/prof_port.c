/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The one file that knows both the kernel and the profiler: what the profiler
 * needs (<prof/port.h>) made from what the kernel has, and the profiler's
 * calls made from the kernel's timers. Read it as the example of an embedding.
 */

#include "prof_port.h"

#include "prof_ways.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/trap.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <malloc.h>
#include <prof/out.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <stdlib.h>

#define TIMER_LINE 0 /* the PIT's line of the PIC */
#define MS_NS 1000000ull

static _Alignas(8) unsigned char memory[PROF_MEMORY_DEFAULT];
static struct loop_timer drain_timer, report_timer;
static uint32_t reports;               /* tables printed */
static size_t held_pieces, held_bytes; /* of the heap, the profiler's */

void prof_port_write(const char *text, size_t bytes)
{
    console_write(text, bytes);
    prof_ways_wrote(text, bytes);
}

void *prof_port_alloc(size_t bytes)
{
    void *piece = malloc(bytes);

    if (piece != NULL) {
        held_pieces++;
        held_bytes += malloc_usable_size(piece);
    }
    return piece;
}

void prof_port_free(void *piece)
{
    if (piece != NULL) {
        held_pieces--;
        held_bytes -= malloc_usable_size(piece);
    }
    free(piece);
}

size_t prof_port_held(size_t *bytes)
{
    *bytes = held_bytes;
    return held_pieces;
}

/* The ELF note of the build-id: three words, then "GNU\0", then the id. */
struct build_id_note {
    uint32_t name_bytes, id_bytes, type;
    char name[4];
    unsigned char id[];
};

/* The image's build-id, as it stands in its note. */
static const struct build_id_note *build_id(size_t *id_bytes)
{
    const struct build_id_note *note = (const void *)build_id_begin;
    size_t note_bytes = (size_t)(build_id_end - build_id_begin);

    *id_bytes = note_bytes > sizeof *note ? note->id_bytes : 0;
    return note;
}

void prof_port_names(void)
{
    size_t id_bytes;
    const struct build_id_note *note = build_id(&id_bytes);

    if (prof_symbols_open(symtab_begin, (size_t)(symtab_end - symtab_begin),
                          note->id, id_bytes) != 0)
        console_line("prof: no names, addresses only: %s",
                     prof_strerror(prof_symbols_error()));
}

/* How often it is asked whether a drain is due, so that a change of the rate,
 * or deep stacks, need nobody to tell: those of a hundred callers at 5 kHz fill
 * half of the profiler's memory in 4 ms. */
#define DRAIN_CHECK_MS 3u

static uint64_t drained_ns; /* when it was last done */

static void on_drain(void *unused)
{
    uint64_t now = clock_ns();

    (void)unused;
    if (now - drained_ns + MS_NS < prof_drain_ms() * MS_NS)
        return;
    drained_ns = now;
    prof_drain();
}

static uint32_t drain_check_ms(void)
{
    uint32_t asked = prof_options()->drain_ms;

    return asked != 0 && asked < DRAIN_CHECK_MS ? asked : DRAIN_CHECK_MS;
}

static void on_report(void *unused)
{
    (void)unused;
    prof_report();
    reports++;
    if (reports == prof_options()->reports)
        kernel_exit(0);
}

/* The rate may not be the one asked for: the PIT divides by whole numbers,
 * and there are bounds. Says so where it differs by more than a hundredth. */
static void say_rate(void)
{
    uint64_t asked = (uint64_t)prof_options()->hz * 1000;
    uint64_t given = prof_rate_mhz();
    uint64_t difference = asked > given ? asked - given : given - asked;

    if (difference * 100 > asked)
        console_line("prof: %u Hz asked for, sampling at %u.%03u Hz (from the "
                     "kernel's tick to %u Hz is possible)",
                     (unsigned)prof_options()->hz, (unsigned)(given / 1000),
                     (unsigned)(given % 1000), PROF_HZ_MAX);
}

static void start(void)
{
    int error = prof_start();

    if (error != 0)
        console_line("prof: not sampling: %s", prof_strerror(error));
    else
        say_rate();
}

void prof_port_init(void)
{
    const struct prof_options *options = prof_options();
    struct prof_config config = {
        .tsc_hz = clock_tsc_hz(),
        .kernel_divisor = CLOCK_DIVISOR,
        .timer_vector = ARCH_IRQ_BASE + TIMER_LINE,
        .text = {(uintptr_t)text_begin, (uintptr_t)text_end},
        .idle = {(uintptr_t)arch_idle_begin, (uintptr_t)arch_idle_end},
        .stack = {(uintptr_t)boot_stack_bottom, (uintptr_t)boot_stack_top},
        .boot_tsc = clock_boot_tsc(),
        .boot_unix_seconds = clock_boot_unix_seconds(),
    };
    int error;

    config.build_id = build_id(&config.build_id_bytes)->id;
    error = prof_init(memory, sizeof memory, &config);
    if (error != 0) {
        console_line("prof: not sampling: %s", prof_strerror(error));
        return;
    }
    prof_ways_start();
    if (options->start)
        start();
    loop_every(&drain_timer, drain_check_ms() * MS_NS, on_drain, NULL);
    if (options->every_ms != 0)
        loop_every(&report_timer, options->every_ms * MS_NS, on_report, NULL);
}

void prof_port_panic(int code)
{
    prof_out_panic((uint32_t)code);
}

void prof_port_end(int code)
{
    bool due = reports == 0 || reports != prof_options()->reports;

    loop_cancel(&drain_timer);
    loop_cancel(&report_timer);
    if (prof_running() && due)
        prof_report();
    prof_stop();
    prof_ways_end(code);
}
