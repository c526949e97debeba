/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* The kernel's tick, where it has one (kernel/alarm.h): PIT counts of one, and
 * its period. */
#define CLOCK_DIVISOR 11932u /* 99.998 Hz */
#define CLOCK_TICK_NS 10000152u

/* Nanoseconds since boot by the TSC. Monotonic. What decides by the time reads
 * this: in causal experiments (<prof/causal.h>) it is virtual. Contexts: any.
 */
uint64_t clock_ns(void);

/* The same without experiments: for wall time. And for a time of the TSC, real
 * or virtual. */
uint64_t clock_real_ns(void);
uint64_t clock_ns_of(uint64_t tsc);

/* Ticks of the PIT that were the kernel's; 0 where it has no tick. Contexts:
 * any. */
uint64_t clock_ticks(void);

/* Seconds since 1970 (UTC): from the CMOS at boot, by the TSC since then. */
uint64_t clock_unix_seconds(void);

/* TSC and wall time (UTC) when clock_ns() was 0. */
uint64_t clock_boot_tsc(void);
uint64_t clock_boot_unix_seconds(void);

/* Frequency of the TSC in Hz, calibrated at boot. */
uint64_t clock_tsc_hz(void);

#ifdef __cplusplus
}
#endif

#endif
