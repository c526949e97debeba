/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONTROL_H
#define PROF_CONTROL_H

/* What the files of this room share; the public calls are in <prof/prof.h>. */

#include <prof/prof.h>

/* Emits HELLO, and START if sampling: what a new reader of the stream needs.
 * Contexts: thread, where prof_drain() may be called. */
void prof_hello(void); /* PROF_WITH_STREAM */

/* The configuration passed to prof_init(); all 0 before that. */
const struct prof_config *prof_control_config(void);

#ifdef PROF_HOSTED
/* Unit tests only: allows prof_init() to be called again. */
void prof_control_forget(void);
#endif

#endif
