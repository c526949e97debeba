/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* The kernel's tick, if it has one (kernel/alarm.h): its PIT divisor, and its
 * period. */
#define CLOCK_DIVISOR 11932u /* 99.998 Hz */
#define CLOCK_TICK_NS 10000152u

/* Returns the nanoseconds since boot, by the TSC. Monotonic. Code that makes
 * decisions by the time reads this clock, which is virtual in causal
 * experiments (<prof/causal.h>). Contexts: any. */
uint64_t clock_ns(void);

/* Returns the real nanoseconds since boot, also in experiments. Contexts:
 * any. */
uint64_t clock_real_ns(void);

/* Converts a TSC value, real or virtual, to nanoseconds since boot. Contexts:
 * any. */
uint64_t clock_ns_of(uint64_t tsc);

/* Returns the number of kernel ticks since boot; 0 if the kernel has no tick.
 * Contexts: any. */
uint64_t clock_ticks(void);

/* Returns the seconds since 1970, UTC: from the CMOS at boot, by the TSC since
 * then. */
uint64_t clock_unix_seconds(void);

/* Return the TSC, and the wall time (UTC), at which clock_ns() was 0. */
uint64_t clock_boot_tsc(void);
uint64_t clock_boot_unix_seconds(void);

/* Returns the TSC frequency in Hz, calibrated at boot. */
uint64_t clock_tsc_hz(void);

#ifdef __cplusplus
}
#endif

#endif
