/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_USER_H
#define SAMPLE_USER_H

/* A sample of user mode has this address instead of its own: the space is all
 * that is kept of it. No code of the kernel is in the last 256 bytes. */

#include <prof/config.h>
#include <prof/user.h>
#include <stdbool.h>
#include <stdint.h>

#define PROF_USER_BASE (UINTPTR_MAX - 255)

static inline bool prof_is_user(uintptr_t pc)
{
    return PROF_WITH_USER && pc - PROF_USER_BASE < PROF_SPACES;
}

#endif
