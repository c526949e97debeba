/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DRAIN_FIND_H
#define PROF_DRAIN_FIND_H

/*
 * Which leaves the samples in the vector are: recent ones, or others, which are
 * resolved. Inline, for drain_entries.c alone. Contexts: the drain.
 */

#include "aggregate/drain_state.h"
#include "aggregate/image.h"
#include "aggregate/recent.h"
#include "aggregate/resolve.h"

#include <prof/config.h>
#include <prof/symbols.h>

/* The leaf of a sample at (pc) without words. NULL: it stays queued
 * (resolve.h). */
static inline const struct prof_recent_leaf *prof_find_flat(uintptr_t pc)
{
    const struct prof_recent_leaf *leaf = prof_recent_find_flat(pc, 0);

    return leaf != NULL ? leaf : prof_resolve(pc, 0, NULL);
}

/* Whether (word) is a return address where the image was linked: what has
 * called the copy that the image runs in. */
static inline bool was_code_word(uint32_t word)
{
    return prof_is_code_word(word + (uint32_t)prof_symbols_moved_by());
}

/* The leaf of an entry with words, whose walk returned (walk). Counts the walk
 * if it ended early. */
static inline const struct prof_recent_leaf *
prof_find_walked(const struct prof_entry *entry, uint32_t walk)
{
    const uint32_t *kept =
        prof_frames_at(&prof_cpus[0].frames, prof_drain_state.frames_read);
    const uint32_t *frames = kept + PROF_FRAMES_HEAD;
    uint32_t count = prof_walk_words(walk) - PROF_FRAMES_HEAD;
    uint32_t hash = prof_recent_hash(frames, count), stop;
    const struct prof_callers *callers =
        prof_recent_find_callers(frames, count, hash);
    const struct prof_recent_leaf *leaf;

    if (callers == NULL)
        callers = prof_resolve_callers(frames, count, hash);
    if (callers == NULL)
        return NULL;
    stop = prof_callers_stop(count, callers->count, prof_walk_reason(walk));
    if (PROF_WITH_BUILTIN && stop == PROF_WALK_NOT_CODE &&
        was_code_word(frames[callers->count]))
        stop = 0;
    leaf = prof_recent_find_leaf(entry->pc, callers->stack, kept);
    if (leaf == NULL)
        leaf = prof_resolve(entry->pc, callers->stack, kept);
    if (stop != 0 && leaf != NULL)
        prof_accounts.stopped[stop]++;
    return leaf;
}

/* The leaf of an entry for whose walk there was no room. */
static inline const struct prof_recent_leaf *
prof_find_unwalked(const struct prof_entry *entry)
{
    const struct prof_recent_leaf *leaf = prof_find_flat(entry->pc);

    if (leaf != NULL)
        prof_accounts.stopped[prof_walk_reason(entry->frames)]++;
    return leaf;
}

#endif
