/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The profiler's port to this kernel: implements <prof/port.h>, initializes the
 * profiler and calls its drain and its report from timers. An example for
 * embedding the profiler in another kernel.
 */

#include "prof_port.h"

#include "alarm.h"
#include "console.h"
#include "heap.h"
#include "prof_cpus.h"
#include "prof_transports.h"
#include "prof_vsock.h"
#include "trace.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/floats.h>
#include <arch/patch.h>
#include <errno.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <malloc.h>
#include <prof/causal.h>
#include <prof/error.h>
#include <prof/transport.h>
#include <prof/loop_stats.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <stdlib.h>

static _Alignas(8) unsigned char memory[PROF_MEMORY_DEFAULT];
static struct loop_timer drain_timer, report_timer;
static uint32_t reports;               /* tables printed */
static size_t held_blocks, held_bytes; /* allocated by the profiler */

/* The heap, the console and the sockets say so themselves; the other devices of
 * the transports are the profiler's alone. */
bool prof_port_busy(void)
{
    return heap_in_use() || console_in_use() || prof_vsock_busy();
}

void prof_port_write(const char *text, size_t bytes)
{
    console_write(text, bytes);
    prof_transports_wrote(text, bytes);
}

/* The profiler may hold a part of the heap, so that a service with very many
 * different stacks does not run out of it. */
#define HEAP_SHARE 2 /* one half */

void *prof_port_alloc(size_t bytes)
{
    size_t most = heap_bytes() / HEAP_SHARE;
    struct arch_floats floats;
    int before = errno;
    void *block;

    if (held_bytes > most || bytes > most - held_bytes)
        return NULL;
    arch_floats_save(&floats); /* of what the tick has interrupted */
    block = malloc(bytes);
    if (block != NULL) {
        held_blocks++;
        held_bytes += malloc_usable_size(block);
    }
    arch_floats_restore(&floats);
    errno = before;
    return block;
}

void prof_port_free(void *block)
{
    struct arch_floats floats;

    arch_floats_save(&floats);
    if (block != NULL) {
        held_blocks--;
        held_bytes -= malloc_usable_size(block);
    }
    free(block);
    arch_floats_restore(&floats);
}

size_t prof_port_held(size_t *bytes)
{
    *bytes = held_bytes;
    return held_blocks;
}

/* The image's ELF symbol table where the loader has put it. */
static int loader_names(void)
{
    const struct arch_symbols *given = &arch_boot.symbols;
    const struct prof_elf_symbols symbols = {
        .symbols = (void *)given->table.begin,
        .symbols_bytes = given->table.end - given->table.begin,
        .entry_bytes = given->entry_bytes,
        .strings = (const char *)given->names.begin,
        .strings_bytes = given->names.end - given->names.begin,
        .code_begin = (uintptr_t)text_begin,
        .code_end = (uintptr_t)text_end,
    };

    return prof_symbols_elf(&symbols);
}

void prof_port_names(void)
{
    int error = prof_symbols_embedded();

    if (error == PROF_ESYM_NONE && arch_boot.symbols.table.begin != 0) {
        error = loader_names();
        if (error == 0)
            console_line("prof: names of %u functions from the loader's symbol "
                         "table",
                         (unsigned)prof_symbols_count());
    }
    if (error != 0)
        console_line("prof: no names, addresses only: %s",
                     prof_strerror(prof_symbols_error()));
}

/* How often to check when the next drain is due: in turns of the loop, for that
 * changes with the rate and the depth of stacks. With a hundred callers at 5
 * kHz half of the profiler's memory fills up in 4 ms. While the CPU is halted
 * it does not change: there, all samples are alike. */
#define DRAIN_CHECK_MS 3u

/* Real time: in experiments the loop's clock is virtual. */
static uint64_t drained_tsc, checked_tsc, cycles_per_ms;

static void on_drain(void *unused);

/* kernel/profile_server, which an image without that does not have. */
void profile_server_panic(void) __attribute__((weak));

/* Recorders, statistics, experiments and the stream go on by drains, too. */
static bool needs_drains(void)
{
    return prof_running() || prof_trace_is_on() || prof_loop_is_on() ||
           prof_options()->causal != PROF_CAUSAL_MODE_OFF ||
           prof_transports_in_use() || profile_server_panic != NULL;
}

/* Arms it for when a drain is due. What needs one begins in a turn of the loop,
 * after which that is looked at again, or by a command. */
static void arm_drain(void)
{
    uint64_t between = prof_drain_ms() * cycles_per_ms;
    uint64_t since = arch_tsc() - drained_tsc;

    if (!needs_drains()) {
        loop_cancel(&drain_timer);
        return;
    }
    loop_once(&drain_timer,
              since < between ? (between - since) * NS_PER_MS / cycles_per_ms
                              : 0,
              on_drain, NULL);
}

static void on_drain(void *unused)
{
    (void)unused;
    prof_drain();
    drained_tsc = arch_tsc();
    prof_causal_step();
    if (prof_causal_complete())
        kernel_exit(0);
    trace_follow(); /* experiments may have begun */
    arm_drain();
}

/* What a command has started may need drains. */
static void follow(void)
{
    trace_follow();
    arm_drain();
}

static void check_drain(void)
{
    uint64_t now = arch_tsc();

    if (now - checked_tsc < DRAIN_CHECK_MS * cycles_per_ms)
        return;
    checked_tsc = now;
    arm_drain();
}

/* What is due is a timer's. */
static bool never(void)
{
    return false;
}

static struct loop_source drain_check = {.waiting = never, .turn = check_drain};

static void on_report(void *unused)
{
    (void)unused;
    prof_report();
    reports++;
    if (reports == prof_options()->reports)
        kernel_exit(0);
}

/* Beside the kernel's tick, and where the PIT is the profiler's own. */
#define HZ_MIN_SHARED 100u
#define HZ_MIN_OWN 19u

/* Prints the actual rate if it differs from the requested one by more than 1 %:
 * the PIT's divisor is a whole number, and the rate has limits. */
static void print_rate(void)
{
    uint64_t asked = (uint64_t)prof_options()->hz * 1000;
    uint64_t given = prof_rate_mhz();
    uint64_t difference = asked > given ? asked - given : given - asked;

    if (difference * 100 > asked)
        console_line("prof: %u Hz requested, sampling at %u.%03u Hz (the range "
                     "is %u to %u Hz)",
                     (unsigned)prof_options()->hz, (unsigned)(given / 1000),
                     (unsigned)(given % 1000),
                     alarm_uses_pit() ? HZ_MIN_SHARED : HZ_MIN_OWN,
                     PROF_HZ_MAX);
}

static void start_sampling(void)
{
    int error = prof_start();

    if (error != 0)
        console_line("prof: not sampling: %s", prof_strerror(error));
    else
        print_rate();
}

#if ARCH_CPUS_MAX > 1

/* As much for each CPU; without it only the first one is sampled. */
static void *memory_for_cpus(struct prof_config *config, size_t *bytes)
{
    void *all = malloc(sizeof memory * cpu_count());

    config->cpus = all != NULL ? cpu_count() : 1;
    config->kick = prof_cpus_kick;
    *bytes = sizeof memory * config->cpus;
    return all != NULL ? all : memory;
}

#else

static void *memory_for_cpus(struct prof_config *config, size_t *bytes)
{
    (void)config;
    *bytes = sizeof memory;
    return memory;
}

#endif

void prof_port_init(void)
{
    const struct prof_options *options = prof_options();
    struct prof_config config = {
        .tsc_hz = clock_tsc_hz(),
        .tick = prof_port_tick(),
        .text = {(uintptr_t)text_begin, (uintptr_t)text_end},
        .idle = {(uintptr_t)arch_idle_begin, (uintptr_t)arch_idle_end},
        .stack = {(uintptr_t)boot_stack_bottom, (uintptr_t)boot_stack_top},
        .drained_by = "loop_poll()",
        .boot_tsc = clock_boot_tsc(),
        .boot_unix_seconds = clock_boot_unix_seconds(),
        .physical = true, /* all memory is where it seems to be */
    };
    struct prof_image_code code = {config.text.begin, config.text.end,
                                   arch_patch, loop_polls};
    size_t bytes;
    void *all = memory_for_cpus(&config, &bytes);
    int error;

    config.build_id = prof_symbols_build_id(&config.build_id_bytes);
    error = prof_init(all, bytes, &config);
    if (error != 0) {
        console_line("prof: not sampling: %s", prof_strerror(error));
        return;
    }
    if (prof_cpus_are_several())
        code.write = NULL; /* another CPU may run it at that moment */
    prof_causal_code(&code);
    prof_cpus_join();
    prof_transports_start(follow);
    error = prof_trace_start();
    if (error != 0)
        console_line("prof: no recorder of tasks: %s", prof_strerror(error));
    error = prof_loop_start();
    if (error != 0)
        console_line("prof: no statistics of %s: %s",
                     prof_loop_is_on() ? "calls" : "the event loop",
                     prof_strerror(error));
    trace_follow();
    prof_trace_switch(PROF_TRACE_NONE); /* no task runs yet */
    if (options->start)
        start_sampling();
    cycles_per_ms = clock_tsc_hz() / 1000;
    drain_timer.own = true;
    arm_drain();
    loop_add(&drain_check);
    if (options->every_ms != 0)
        loop_every(&report_timer, options->every_ms * NS_PER_MS, on_report,
                   NULL);
}

void prof_port_panic(int code)
{
    if (profile_server_panic != NULL)
        profile_server_panic();
    prof_transport_panic((uint32_t)code);
}

void prof_port_end(int code)
{
    const struct prof_options *options = prof_options();
    bool due = reports == 0 || reports != prof_options()->reports;

    loop_cancel(&drain_timer);
    loop_cancel(&report_timer);
    if (prof_running() && due)
        prof_report();
    else if (due)
        prof_loop_report(options->loop_rows);
    prof_stop();
    if (prof_causal_running()) {
        prof_causal_stop();
        prof_causal_report();
    }
    prof_transports_end(code);
}
