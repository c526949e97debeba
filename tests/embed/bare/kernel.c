/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program on the bare machine, as firmware and boot loaders are: 32 bits,
 * without paging, without interrupts, and with an interrupt controller as the
 * BIOS has left it. It answers requests in a loop (work.h).
 */

#include "kernel.h"

#include "../work.h"

#include <prof/prof.h>

#define REQUESTS 16000u

void kernel_main(void);

void kernel_main(void)
{
    if (profiler_start() != 0)
        pc_exit(1);
    for (unsigned i = 0; i < REQUESTS; i++) {
        answer();
        prof_poll();
    }
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}
