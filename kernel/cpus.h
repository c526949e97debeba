/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_CPUS_H
#define KERNEL_CPUS_H

/*
 * Further CPUs, in images for several. With one CPU all of this is nothing.
 */

#include <arch/cpus.h>
#include <stdbool.h>

#if ARCH_CPUS_MAX == 1

static inline void cpus_start(void)
{
}

static inline void cpus_exit_on_first(int code)
{
    (void)code;
}

#else

/*
 * Starts those that the firmware's tables list, up to the option cpus=N, and
 * prints how many run and which do not. Contexts: boot, once, with heap,
 * options and alarm_start().
 */
void cpus_start(void);

/* On a CPU other than the first: has that one end the image with (code), and
 * does not return. */
void cpus_exit_on_first(int code);

/* cpus=N, 1 to ARCH_CPUS_MAX. False: invalid. Contexts: boot. */
bool cpus_option(const char *value);

#endif

#endif
