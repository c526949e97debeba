/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PATCH_H
#define PROF_PATCH_H

/*
 * Functions as targets or progress points, by their name: their beginnings are
 * patched while experiments run. Memory is allocated when the first is added,
 * and never freed: a call may return after experiments.
 */

#include <prof/causal.h>
#include <prof/symbols.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- hooks.asm
 *
 * The function's beginning jumps to its entry, which calls prof_patch_hook()
 * and goes on with the instructions that were moved there (relocate.h). The
 * hook may replace the return address by one in prof_patch_returns, which calls
 * the hook, too, and returns to where it was. Each return address has a place
 * of its own there, and keeps it: whatever happens to the stack meanwhile, it
 * returns right, and what a walk over the stack has found is known later.
 */

#define PROF_ENTRIES 33u
#define PROF_ENTRY_BYTES 42u
/* Moved instructions follow what hooks.asm has at the beginning of an entry. */
#define PROF_ENTRY_HEAD (sizeof(uintptr_t) == 8 ? 10u : 9u)
#define PROF_RETURNS 128u
#define PROF_RETURN_BYTES 6u

extern const uint8_t prof_patch_entries[PROF_ENTRIES * PROF_ENTRY_BYTES];
extern const uint8_t prof_patch_returns[PROF_RETURNS * PROF_RETURN_BYTES];
extern const uint8_t prof_patch_hooks_end[]; /* of all code from the entries on
                                              */

/* Called with the frame of hooks.asm: frame[1] is where an entry or a return
 * has called it. A return stands in the place of the true return address, which
 * is stored there; the function's own is above the frame of an entry. Contexts:
 * any, interrupts off. */
void prof_patch_hook(uintptr_t *frame);

/* ---- functions that are patched */

#define PROF_PATCH_NAME 80u /* bytes of a name that are kept, with the NUL */

struct prof_patched {
    struct prof_target target;
    struct prof_progress point;
    uintptr_t address;
    uint32_t taken;      /* bytes that were moved to its entry */
    uint8_t original[5]; /* what the jump replaces */
    int error;           /* why it cannot be patched, or 0 */
    bool may_be_learnt;  /* then it can be a target of shares.h instead */
    uintptr_t end;       /* of its code */
    bool is_target, is_point;
    bool on;            /* it is patched, */
    uint64_t since;     /* as a target: from then on, by real time, */
    uint64_t on_cycles; /* and so long before */
    bool loops;         /* the event loop was run by it or by what it calls */
    char name[PROF_PATCH_NAME];
};

/* The outermost call of a target on its stack, which has not returned. */
struct prof_visit {
    uintptr_t *place; /* of its return address, which was replaced */
    struct prof_patched *function;
};

#define PROF_VISITS_MAX 64u /* a task that waits in a target has one */

/* The last entry belongs to no function, and returns at once (own.h). */
#define PROF_PROBE (PROF_ENTRIES - 1)

struct prof_patch {
    uint32_t functions_count;
    uint32_t visits_count;
    struct prof_patched functions[PROF_ENTRIES];
    struct prof_visit visits[PROF_VISITS_MAX];
    uintptr_t returns[PROF_RETURNS]; /* the true addresses; 0: free */
    bool one_only; /* of the targets only that of the experiment is patched */
    uint64_t untracked; /* calls for which (visits) or (returns) had no room */
};

extern struct prof_patch *prof_patch; /* NULL: none was added */

/* prof_origin() where functions were patched. Contexts: any. */
uintptr_t prof_patch_origin(uintptr_t address);

/* The entry that the beginning of (function) jumps to. */
uintptr_t prof_patch_entry(const struct prof_patched *function);

const struct prof_image_code *prof_patch_code(void);

/* What prof_causal_leave_out_code() said. */
bool prof_causal_apart(uintptr_t begin, size_t bytes);

/* The next function or clone (name) from (*at) on, 0 = the code's begin, which
 * is moved after it; false: none. Contexts: as of prof_name_is(). */
bool prof_patch_next_named(const char *name, uintptr_t *at,
                           struct prof_symbol *symbol);

/* Patches all functions, and restores them. The second returns how many it did
 * not find as it had left them; these it does not touch. Contexts: thread. */
void prof_patch_on(void);
void prof_patch_points_on(void); /* points alone */
uint32_t prof_patch_off(void);

/* Experiments begin. With (one_only) a target is patched while experiments are
 * with it, and is on trial first. Contexts: thread. */
void prof_patch_begin(bool one_only);

/* Functions that were called too often in (cycles) of experiments are measured
 * by samples from now on (shares.h). True: there was one. Contexts: thread. */
bool prof_patch_learn_if(uint64_t cycles);

/* With (one_only): ends the trial of the target of the experiment if its calls
 * have shown which is better, and patches that of the next experiment. (now) is
 * the real time. Contexts: thread, interrupts off. */
void prof_patch_try(uint64_t now);
void prof_patch_follow(uint64_t now);

/* Whether a call of (function) is one of a target. */
bool prof_patch_enters(const struct prof_patched *function);

/* (target) is none any more. */
void prof_patch_no_target(const struct prof_target *target);

/* The name of (symbol) without arguments, as much as has (room). */
void prof_patch_name(const struct prof_symbol *symbol, char *name, size_t room);

/* The loop turns: no target runs on the current stack. */
void prof_patch_turn(void);

#endif
