/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PATCH_H
#define PROF_PATCH_H

/*
 * Functions that are targets or points of progress by their name: their
 * beginnings are patched while experiments run. All memory is taken when the
 * first is added, and kept: calls that began while they ran may return later.
 */

#include "causal/hooks.h"

#include <prof/causal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_PATCH_NAME 80u /* bytes of a name that are kept, with the NUL */

struct prof_patched {
    struct prof_target target;
    struct prof_progress point;
    uintptr_t address;
    uint32_t taken;      /* bytes that were moved to its entry */
    uint8_t original[5]; /* what the jump replaces */
    int error;           /* why it cannot be patched, or 0 */
    bool may_be_learnt;  /* its samples can take the place of that */
    uintptr_t end;       /* of its code */
    bool is_target, is_point;
    bool on;    /* it is patched */
    bool loops; /* the event loop was run inside of it */
    char name[PROF_PATCH_NAME];
};

/* A call of a target that has not returned: the outermost on its stack. */
struct prof_visit {
    uintptr_t *place; /* of its return address, which was replaced */
    struct prof_patched *function;
};

#define PROF_VISITS_MAX 64u /* a task that waits in a target has one */

/* Of these, the last is no function: it returns at once (own.h). */
#define PROF_PROBE (PROF_ENTRIES - 1)

struct prof_patch {
    uint32_t functions_count;
    uint32_t visits_count;
    struct prof_patched functions[PROF_ENTRIES];
    struct prof_visit visits[PROF_VISITS_MAX];
    uintptr_t returns[PROF_RETURNS]; /* by prof_patch_returns; 0: free */
    uint64_t untracked;              /* calls without room in one of these */
};

extern struct prof_patch *prof_patch; /* NULL: none was added */

/* Where its beginning leads to. */
uintptr_t prof_patch_entry(const struct prof_patched *function);

const struct prof_causal_code *prof_patch_code(void);

/* Patches all functions, and restores them. The second returns how many it did
 * not find as it had left them; these it does not touch. Contexts: thread. */
void prof_patch_on(void);
uint32_t prof_patch_off(void);

/* (function), a target, is learnt from samples. */
void prof_patch_learn(struct prof_patched *function);

/* The same for those that were called too often in (cycles) of experiments.
 * True: there was one, and all that was measured is void. Contexts: thread. */
bool prof_patch_learn_if(uint64_t cycles);

/* The loop turns: no target runs on the current stack. */
void prof_patch_turn(void);

#endif
