/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CPU_TIME_H
#define CPU_TIME_H

/* The CPU time of another thread. Unlike the time that passes it does not grow
 * while other programs have the CPU. */

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes to *(ns) how long the thread has run whose
 * /proc/PID/task/TID/schedstat is (path); the first number there, see
 * "Scheduler Statistics" in the kernel's documentation. False if there is no
 * such thread or number.
 */
bool cpu_time_ns(const char *path, uint64_t *ns);

#endif
