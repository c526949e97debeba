/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_FUNCTIONS_H
#define PROF_CAUSAL_FUNCTIONS_H

/* Adds functions as targets and progress points of <prof/causal.h>, by name or
 * address. Contexts: thread on the first CPU, unless stated otherwise. */

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prof_target; /* <prof/causal.h> */

/*
 * While experiments run, the first instructions of each function are replaced
 * by a jump, and restored afterwards. A function is left when it returns; the
 * time of its callees counts, including tail calls. If it is left in another
 * way, such as by longjmp(), this is detected at the loop's next turn or
 * earlier. A function may wait if the kernel calls prof_causal_switch() at each
 * task switch. A function that runs the event loop cannot be a target.
 */

/* The image's code, and how to patch it. Contexts of both functions: thread. */
struct prof_image_code {
    uintptr_t begin, end; /* of the code, half-open */

    /* Writes (count) bytes at (address), which may be write-protected; see
     * arch_patch() of the reference kernel. */
    void (*write)(uintptr_t address, const void *bytes, size_t count);

    /* Returns whether the function of (bytes) bytes at (begin) polls for work;
     * such a function is not chosen automatically. NULL: none does. */
    bool (*polls)(uintptr_t begin, size_t bytes);
};

/* Sets the image's code, which is copied. To be called before functions are
 * added. */
void prof_causal_code(const struct prof_image_code *code);

/* Kinds of functions. If a target cannot be patched, or is called more than
 * once in 5,000 cycles, its time is estimated from samples: its share of each
 * kind of handler, in all of which virtual time is slowed down by that share.
 * The estimate needs 500 samples, with callers if callees are to count, and its
 * error widens the confidence interval. */
enum prof_causal_kind {
    PROF_CAUSAL_TARGET, /* patched if possible, else by samples */
    PROF_CAUSAL_PROGRESS,
    PROF_CAUSAL_TARGET_ENTRY,   /* patched, or refused */
    PROF_CAUSAL_TARGET_SAMPLES, /* by samples, not patched */
};

/*
 * Add the function (name), mangled or demangled, with or without arguments; or
 * the function that contains (address), which (name) may also state, as in
 * "0x1234". A function may be both target and progress point. The first call
 * allocates some 8 KiB. Returns 0, PROF_ESTATE (experiments are running, or
 * prof_causal_code() was not called), PROF_EMEMORY, or PROF_EPATCH_...
 * (<prof/error.h>) if the function cannot be added.
 *
 * (name) may also be a set of ranges of code, such as a source line or an
 * inlined function, in the form that `parasite causal --target` prints, with
 * link-time addresses. Its time is estimated from samples.
 */
int prof_causal_add_function(const char *name, enum prof_causal_kind kind);
int prof_causal_add_address(uintptr_t address, enum prof_causal_kind kind);

/* Most ranges of such a target; adjacent ranges count as one. */
#define PROF_TARGET_RANGES_MAX 64u

/* Returns the result of polls() of prof_causal_code(); false without one. */
bool prof_causal_polls(uintptr_t begin, size_t bytes);

/* Sets a function that returns whether the function of (bytes) bytes at (begin)
 * is no part of the program, such as one of clients in the same image. Such a
 * function is not chosen automatically. NULL: all are parts. */
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

/* Returns the target whose name in the table is (name); NULL: there is none. */
const struct prof_target *prof_causal_target(const char *name);

#ifdef __cplusplus
}
#endif

#endif
