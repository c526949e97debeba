/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_USER_H
#define PROFILE_USER_H

/* The names of user mode's address spaces (<prof/user.h>). */

#include "sample/user.h"

#include <prof/text.h>

/* Writes what (address) is, that of samples of user mode: "[user mode]", or
 * with the name or number of its space. Contexts: thread. */
#if PROF_WITH_USER
void prof_user_write(struct prof_text *out, uintptr_t address);
#else
static inline void prof_user_write(struct prof_text *out, uintptr_t address)
{
    (void)out;
    (void)address;
}
#endif

/* The name of space (number), "" = none. Contexts: thread. */
const char *prof_user_name(uint32_t number);

/* Puts all names into the stream, at (tsc). Contexts: thread. */
#if PROF_WITH_USER && PROF_WITH_STREAM
void prof_user_send(uint64_t tsc);
#else
static inline void prof_user_send(uint64_t tsc)
{
    (void)tsc;
}
#endif

#endif
