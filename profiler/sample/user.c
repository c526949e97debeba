/* SPDX-License-Identifier: Apache-2.0 */

/* Samples of user mode; <prof/user.h>. With the PIT as the source the stub does
 * the same: tick/<width>/parasite.asm. */

#include "sample/user.h"

#include "sample/cpu_state.h"

#include <prof/prof.h>

void prof_sample_user(void)
{
    prof_cpu_here()->user_seen = true;
    prof_sample(PROF_USER_BASE + prof_cpu_here()->space, 0, 0);
}

void prof_space_set(uint32_t number)
{
    prof_cpu_here()->space = (uint8_t)(number < PROF_SPACES ? number : 0);
}
