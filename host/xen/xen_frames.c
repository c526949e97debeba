/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a Xen guest, mapped once. */

#include "xen/xen_frames.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 16384u /* each is a mapping, and Linux allows 65,530 */

void xen_frames_free(struct xen_frames *frames)
{
    for (uint32_t i = 0; i < frames->index.count; ++i) {
        if (frames->runs[i].bytes != NULL)
            frames->calls->unmap(frames->owner, frames->runs[i].bytes,
                                 frames->together);
    }
    index_free(&frames->index);
    memset(&frames->index, 0, sizeof frames->index);
    free(frames->runs);
    frames->runs = NULL;
}

static const struct xen_run *find_run(struct xen_frames *frames, uint64_t run)
{
    uint64_t numbers[XEN_FRAMES_TOGETHER];
    bool is_new;
    uint32_t at;

    if (frames->index.count == RUNS_MAX &&
        index_find(&frames->index, run) == INDEX_NONE)
        xen_frames_free(frames);
    at = index_add(&frames->index, run, &is_new);
    if (is_new) {
        vector_reserve_one(&frames->runs, at, sizeof *frames->runs);
        memset(&frames->runs[at], 0, sizeof frames->runs[at]);
        for (unsigned i = 0; i < frames->together; ++i)
            numbers[i] = run * frames->together + i;
        frames->runs[at].bytes = frames->calls->map(
            frames->owner, numbers, frames->together, frames->runs[at].missing);
    }
    return &frames->runs[at];
}

bool xen_frames_copy(struct xen_frames *frames, uint64_t physical, uint8_t *to,
                     size_t bytes)
{
    uint64_t frame = physical / XEN_FRAME_BYTES;
    size_t offset = physical % XEN_FRAME_BYTES;
    const struct xen_run *run = find_run(frames, frame / frames->together);
    size_t number = frame % frames->together;

    if (run->bytes == NULL || run->missing[number] ||
        bytes > XEN_FRAME_BYTES - offset)
        return false;
    memcpy(to, run->bytes + number * XEN_FRAME_BYTES + offset, bytes);
    return true;
}
