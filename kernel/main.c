/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and end of the reference unikernel. Start reading here; continue with
 * loop.c, clock.c, prof_port.c and panic.c.
 *
 * The order matters: the console first, so that everything later can print
 * errors, but for a virtio console, which needs heap and options; the clock
 * before interrupts are enabled; the heap before constructors, which may use
 * it; constructors before options, which are set in what they made; the
 * profiler last, so that it samples only the service.
 */

#include "alarm.h"
#include "clock.h"
#include "console.h"
#include "cpus.h"
#include "heap.h"
#include "options.h"
#include "prof_port.h"
#include "statistics.h"

#include <acpi.h>
#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/features.h>
#include <debug_exit.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <irq.h>
#include <stdio.h>

#define EXIT_CODE_MASK 127
#define RAM_END_GIB (unsigned)((ARCH_RAM_END + 4096) >> 30)

typedef void constructor(void);
extern constructor *const init_array_begin[], *const init_array_end[];

/* task/pool.c, which an image without promises does not have. */
void promise_at_end(void) __attribute__((weak));

/* kernel/profile_server, which an image without that does not have. */
void profile_server_start(void) __attribute__((weak));
void profile_server_end(int code) __attribute__((weak));

static void say_lacking(const char *name, const char *without)
{
    console_line("boot: no %s: %s", name, without);
}

static void print_boot_summary(void)
{
    uint64_t khz = clock_tsc_hz() / 1000;

    console_line("boot: by %s, memory from %s, %u modules", arch_boot.loader,
                 arch_boot.memory_source, (unsigned)arch_boot.module_count);
    console_line("boot: heap %u MiB, TSC %u.%03u MHz",
                 (unsigned)(heap_bytes() >> 20), (unsigned)(khz / 1000),
                 (unsigned)(khz % 1000));
    if (!alarm_has_pit() && clock_instead_of_pit() != NULL)
        console_line("boot: no PIT: TSC measured against %s",
                     clock_instead_of_pit());
    else if (!alarm_has_pit())
        console_line("boot: no PIT");
    if (!irq_has_pic())
        console_line("boot: no PIC: interrupts by the IO-APIC");
    arch_cpu_lacks(say_lacking);
    if (arch_boot.command_line_cut)
        console_line("boot: command line longer than %u bytes, rest ignored",
                     ARCH_COMMAND_LINE_MAX - 1);
    if (arch_boot.regions_ignored != 0)
        console_line("boot: %u memory ranges ignored, above %u GiB or too "
                     "many",
                     arch_boot.regions_ignored, RAM_END_GIB);
    if (arch_boot.modules_ignored != 0)
        console_line("boot: %u modules ignored, above %u GiB or too many",
                     arch_boot.modules_ignored, RAM_END_GIB);
}

static void run_constructors(void)
{
    for (constructor *const *each = init_array_begin; each < init_array_end;
         each++)
        (*each)();
}

void kernel_main(void)
{
    console_start();
    prof_port_names();
    (void)acpi_start(arch_boot.acpi_root);
    if (!irq_start())
        panic("this machine has neither a PIC nor an IO-APIC");
    if (clock_calibrate() != 0 || !alarm_start(clock_tsc_hz()))
        panic("no timer counts");
    clock_start();
    heap_start();
    arch_interrupts_on();
    print_boot_summary();
    run_constructors();
    options_apply(arch_boot.command_line);
    console_start_late();
    console_line("boot: timer: %s", alarm_name());
    cpus_start();
    prof_port_init();
    if (profile_server_start != NULL)
        profile_server_start();
    statistics_start();

    int code = service_main();

    if (code == SERVICE_LOOP) {
        loop_run();
        code = 0;
    }
    kernel_exit(code);
}

void kernel_exit(int code)
{
    if (arch_cpu_number() != 0)
        cpus_exit_on_first(code);
    if (promise_at_end != NULL)
        promise_at_end();
    fflush(NULL);
    prof_port_end(code & EXIT_CODE_MASK);
    if (profile_server_end != NULL)
        profile_server_end(code & EXIT_CODE_MASK);
    arch_interrupts_off();
    (void)arch_cpus_stop_others();
    console_seize();
    console_finish();
    debug_exit((uint8_t)(code & EXIT_CODE_MASK));
}
