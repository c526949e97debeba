/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_FUNCTIONS_H
#define PROF_CAUSAL_FUNCTIONS_H

/* Functions as targets and progress points of <prof/causal.h>, by name. */

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prof_target; /* <prof/causal.h> */

/*
 * The first instructions of functions are replaced by a jump while experiments
 * run, and restored afterwards. A function is left when it returns; time in
 * what it calls counts, also by a tail call. How it is left otherwise, by
 * longjmp(), is known at the loop's next turn or earlier. It may wait if the
 * kernel calls prof_causal_switch() at each switch of tasks; a function that
 * runs the loop itself is no target.
 */

/* The code of the image, and how to write to it: as arch_patch() does in the
 * reference kernel. Contexts of both calls: thread. */
struct prof_image_code {
    uintptr_t begin, end;
    void (*write)(uintptr_t address, const void *bytes, size_t count);
    /* Whether the function of (bytes) bytes at (begin) looks again and again
     * for work; NULL: none does. It is not chosen by itself. */
    bool (*polls)(uintptr_t begin, size_t bytes);
};
void prof_causal_code(const struct prof_image_code *code);

/* A target that cannot be patched, or is called more than once in 5,000 cycles,
 * is learnt from samples: its share of each handler, by which virtual time is
 * slower in all of it. That takes 500 samples, with callers if what it calls is
 * to count, and widens the interval by what they leave open. */
enum prof_causal_kind {
    PROF_CAUSAL_TARGET, /* patched if that can be, else by samples */
    PROF_CAUSAL_PROGRESS,
    PROF_CAUSAL_TARGET_ENTRY,   /* patched, or refused */
    PROF_CAUSAL_TARGET_SAMPLES, /* not patched */
};

/*
 * Adds the function (name), mangled or not, with its arguments or without, or
 * the one that (address) is in, for which a name such as "0x1234" stands, too;
 * it may be of both kinds. Allocates once, some 8 KiB. Returns 0, PROF_ESTATE
 * (experiments are running, or there was no prof_causal_code()), PROF_EMEMORY,
 * or PROF_EPATCH_...: why not (<prof/error.h>).
 *
 * (name) may also be a set of ranges of code, such as a line of source or an
 * inlined function, as `parasite causal --target' writes it. It is learnt from
 * samples; its addresses are those as linked.
 */
int prof_causal_add_function(const char *name, enum prof_causal_kind kind);
int prof_causal_add_address(uintptr_t address, enum prof_causal_kind kind);

/* Ranges of such a target; those that touch are one. */
#define PROF_TARGET_RANGES_MAX 64u

bool prof_causal_polls(uintptr_t begin, size_t bytes);

/* (is_apart) says whether a function is no part of the program, such as one of
 * clients in the image: it is not chosen by itself. */
#if PROF_WITH_CAUSAL
void prof_causal_leave_out_code(bool (*is_apart)(uintptr_t begin,
                                                 size_t bytes));
#else
static inline void prof_causal_leave_out_code(bool (*is_apart)(uintptr_t begin,
                                                               size_t bytes))
{
    (void)is_apart;
}
#endif

/* The target (name), as the table shows it; NULL: there is none. */
const struct prof_target *prof_causal_target(const char *name);

#ifdef __cplusplus
}
#endif

#endif
