/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel's tick: PIT counts per tick, and what that comes to. */
#define CLOCK_DIVISOR 11932u /* 99.998 Hz */
#define CLOCK_TICK_NS 10000152u

/* Nanoseconds since boot by the TSC. Contexts: any. Never goes back. */
uint64_t clock_ns(void);

/* Timer ticks that the kernel's own handler has seen. Contexts: any. */
uint64_t clock_ticks(void);

/* Seconds since 1970 (UTC), from the CMOS at boot and the TSC since. */
uint64_t clock_unix_seconds(void);

/* The TSC when clock_ns() was 0, and the wall time (UTC) then. */
uint64_t clock_boot_tsc(void);
uint64_t clock_boot_unix_seconds(void);

/* The TSC's frequency in Hz as calibrated at boot. */
uint64_t clock_tsc_hz(void);

#ifdef __cplusplus
}
#endif

#endif
