/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel of the higher half: 64 bits, linked at -2 GiB, compiled with
 * -mcmodel=kernel. It ticks at 1,024 Hz by the PC's clock, does not use the PIT
 * and does not expect its interrupt. It answers requests in a loop (work.h).
 */

#include "kernel.h"

#include "../kernel64.h"
#include "../work.h"

#include <prof/prof.h>

volatile uint64_t kernel_ticks;

void pit_done(void)
{
    pc_pic_done(PC_LINE_PIT);
}

void timer_interrupt(const struct interrupted *at)
{
    (void)at;
    kernel_ticks++;
    pc_rtc_done();
}

static void run_until(uint64_t ticks)
{
    while (kernel_ticks < ticks) {
        answer();
        prof_poll();
    }
}

void kernel_main(void)
{
    start_interrupts(PC_VECTOR + PC_LINE_RTC);
    pc_rtc_start();
    if (profiler_start() != 0)
        pc_exit(1);
    run_until(2560);
    (void)prof_option("prof.report=folded");
    prof_report();
    prof_stop();
    run_until(kernel_ticks + 256); /* no interrupt of the PIT's may come */
    if (prof_start() != 0)
        pc_exit(2);
    run_until(kernel_ticks + 64);
    pc_exit(0);
}
