/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_NEWEST_H
#define PROF_NEWEST_H

#include <stdint.h>

/* When the newest sample was taken, drained or not; 0: none yet. Contexts:
 * thread. */
uint64_t prof_newest_tsc(void);

#endif
