/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PATCH_H
#define PROF_PATCH_H

/*
 * Functions as targets or progress points, by name, whose beginnings are
 * patched while experiments run. Memory is allocated when the first function is
 * added, and never freed, as a call may return after the experiments.
 */

#include "unwind/prologue.h"

#include <prof/causal.h>
#include <prof/symbols.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- hooks.asm
 *
 * A patched function jumps to its entry, which calls prof_patch_hook() and
 * continues with the instructions that were moved there (relocate.h). The hook
 * may replace the return address by one in prof_patch_returns, whose code calls
 * the hook, too, and returns to the original address. Each original address has
 * a slot of its own there, and keeps it, so that the return is correct whatever
 * happens to the stack meanwhile, and addresses found by a stack walk can be
 * translated later.
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

/* Called with the frame of hooks.asm: frame[1] is the address from which an
 * entry or a return has called it. A return calls it in place of the original
 * return address, which the hook stores there; the return address of a function
 * is above the frame of its entry. Contexts: any, interrupts off. */
void prof_patch_hook(uintptr_t *frame);

/* ---- patched functions */

#define PROF_PATCH_NAME 80u /* bytes of a stored name, with its NUL */

struct prof_patched {
    struct prof_target target;
    struct prof_progress point;
    struct prof_prologue_head head; /* of what the jump replaces */
    uint32_t taken;                 /* bytes that were moved to its entry */
    int error;                      /* why it cannot be patched, or 0 */
    bool may_be_learnt; /* then it can be a target of shares.h instead */
    uintptr_t end;      /* of its code */
    bool is_target, is_point;
    bool on;            /* it is patched now */
    bool loops;         /* it or a callee has run the event loop */
    uint64_t since;     /* as a target: real time at which it was patched */
    uint64_t on_cycles; /* as a target: time patched before that */
    char name[PROF_PATCH_NAME];
};

/* The outermost call of a target on its stack, which has not returned. */
struct prof_visit {
    uintptr_t *place; /* location of its return address, which was replaced */
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
    bool one_only; /* only the target of the current experiment is patched */
    uint64_t untracked; /* calls for which (visits) or (returns) had no room */
};

extern struct prof_patch *prof_patch; /* NULL: none was added */

/* Implements prof_origin() when functions were patched. Contexts: any. */
uintptr_t prof_patch_origin(uintptr_t address);

/* Returns the entry that the beginning of (function) jumps to. */
uintptr_t prof_patch_entry(const struct prof_patched *function);

const struct prof_image_code *prof_patch_code(void);

/* Returns the result of the function set by prof_causal_leave_out_code(). */
bool prof_causal_apart(uintptr_t begin, size_t bytes);

/* Finds the next function or clone (name) from *at on, 0 = the code's begin,
 * and advances *at. Returns false if there is none. Contexts: as
 * prof_name_is(). */
bool prof_patch_next_named(const char *name, uintptr_t *at,
                           struct prof_symbol *symbol);

/* The first patches all functions, the second progress points only. The third
 * restores all functions, and returns the number of those that were not as it
 * had left them, which it does not restore. Contexts: thread. */
void prof_patch_on(void);
void prof_patch_points_on(void);
uint32_t prof_patch_off(void);

/* Prepares for experiments. With (one_only) a target is patched only in its own
 * experiments, and is on trial first. Contexts: thread. */
void prof_patch_begin(bool one_only);

/* Measures functions that were called too often in (cycles) of experiments by
 * samples from now on (shares.h). Returns whether there were any. Contexts:
 * thread. */
bool prof_patch_learn_if(uint64_t cycles);

/* With (one_only): the first ends the trial of the experiment's target if its
 * calls have shown which method is better; the second patches the target of the
 * next experiment. (now) is the real time. Contexts: thread, interrupts off. */
void prof_patch_try(uint64_t now);
void prof_patch_follow(uint64_t now);

/* Returns whether a call of (function) enters a target. */
bool prof_patch_enters(const struct prof_patched *function);

/* Removes (target) from the targets. */
void prof_patch_no_target(const struct prof_target *target);

/* Stores the name of (symbol) without arguments in (name), cut to (room). */
void prof_patch_name(const struct prof_symbol *symbol, char *name, size_t room);

/* Called in a turn of the loop when there are visits: no target runs on the
 * current stack. */
void prof_patch_turn(void);

#endif
