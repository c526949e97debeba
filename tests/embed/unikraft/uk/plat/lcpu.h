/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UK_LCPU_H
#define UK_LCPU_H

/* As much of Unikraft's CPUs as the kit uses. */

#include <stdint.h>

#define UKPLAT_LCPU_RFLG_DONOTBLOCK 1

typedef uint32_t __lcpuidx;
struct __regs;
struct ukplat_lcpu_func {
    void (*fn)(struct __regs *regs, void *arg);
    void *user;
};

uint32_t ukplat_lcpu_count(void); /* that there are, started or not */
__lcpuidx ukplat_lcpu_idx(void);

/* Has those of the (*num) CPUs that have been started run (fn) in an interrupt.
 * Never waits. Not 0: one of them still had something to run. */
int ukplat_lcpu_run(const __lcpuidx cpus[], unsigned *num,
                    const struct ukplat_lcpu_func *fn, unsigned long flags);

void ukplat_lcpu_halt_irq(void); /* from interrupts off to off */

#endif
