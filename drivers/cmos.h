/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMOS_H
#define CMOS_H

#include <stdint.h>

/*
 * Time of the battery-backed clock, interpreted as UTC, in seconds since 1970.
 * Waits for an update in progress, on a busy host for some 100 ms. Returns 0 if
 * the clock cannot be read or its date is invalid. Contexts: boot, thread.
 */
uint64_t cmos_unix_seconds(void);

#endif
