/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

/* A walk from frame to frame, for unwind.c and unwind_scan.c. */

#include "unwind/unwind.h"

/* The call before a return address. */
struct call {
    enum { CALL_NONE, CALL_DIRECT, CALL_INDIRECT } kind;
    uint64_t target;
};

/* The functions that one goes on to by a jump. */
struct jumps {
    uint64_t *targets;
    size_t count;
};

struct unwinder {
    struct places places;
    struct index calls; /* return addresses */
    struct call *call_list;
    struct index functions; /* where they begin */
    bool *sets_frame;       /* by number */
    struct index jumpers;   /* the same */
    struct jumps *jumps;    /* by number */
    unsigned changes;       /* of the places, when these were found */
};

/* Where a walk is. */
struct state {
    uint64_t ip;
    uint64_t sp;
    uint64_t fp;
    unsigned word; /* bytes */
    bool innermost;
};

enum step {
    STEP_UP,
    STEP_OUTERMOST,
    STEP_UNALIGNED,
    STEP_OUTSIDE,
    STEP_FALLING,
    STEP_UNREADABLE,
};

struct walk {
    struct unwinder *unwinder;
    const struct unwind_memory *memory;
    struct unwind_stack *stack;
    struct state at;
};

/* The function with (address), NULL if it is not known. */
const struct image_symbol *walk_symbol(const struct unwinder *unwinder,
                                       uint64_t address);

/* Its beginning; false if it is not known. */
bool walk_function(const struct unwinder *unwinder, uint64_t address,
                   uint64_t *start);

/* Reads a word of the stack. */
bool walk_word(struct walk *walk, uint64_t address, uint64_t *value);

/* Forgets what was found in the guest's code. */
void walk_forget(struct unwinder *unwinder);

/* Goes up by a scan, in an image most of which has no frame pointers;
 * *(known) is false where that is not to be done. */
enum step walk_by_scan(struct walk *walk, bool *known);

#endif
