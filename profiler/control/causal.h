/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CAUSAL_H
#define CONTROL_CAUSAL_H

/* Causal experiments by options and commands. Contexts: thread. */

#include <prof/causal.h>

/* In the order in which they were named. */
struct prof_causal_wanted {
    struct prof_causal_wanted *next;
    enum prof_causal_kind kind;
    bool added;
    char name[];
};
extern struct prof_causal_wanted *prof_causal_wanted;

/* prof.target=, prof.progress=: remembers (name). Returns 0, PROF_EVALUE or
 * PROF_EMEMORY. */
int prof_causal_want(enum prof_causal_kind kind, const char *name);

/* Begins experiments with what was named, and with prof.causal=auto with what
 * is hot. Returns 0 or PROF_ECAUSAL_... */
int prof_causal_begin(void);

#endif
