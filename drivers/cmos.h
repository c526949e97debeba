/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMOS_H
#define CMOS_H

#include <stdint.h>

/*
 * Date and time of the battery-backed clock, taken as UTC, in seconds since
 * 1970. Waits up to about 10 ms for the clock to be at rest. Returns 0 where it
 * never is, or where it shows no valid date. Contexts: boot, thread.
 */
uint64_t cmos_unix_seconds(void);

#endif
