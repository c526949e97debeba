/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_USER_H
#define PROFILE_USER_H

/* The names of user mode's address spaces (<prof/user.h>). */

#include "sample/cpu_state.h"

#include <prof/text.h>

/* Writes (address), one of samples of user mode, as "[user mode]", with the
 * name or number of its address space. Contexts: thread. */
void prof_user_write(struct prof_text *out, uintptr_t address);

/* Emits all names to the stream, at (tsc). Contexts: thread. */
void prof_user_send(uint64_t tsc);

#if !PROF_WITH_USER
#define prof_user_write(...) PROF_LEFT_OUT(prof_user_write(__VA_ARGS__))
#define prof_user_send(tsc) PROF_LEFT_OUT(prof_user_send(tsc))
#endif

#endif
