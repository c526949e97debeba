/* SPDX-License-Identifier: Apache-2.0 */

/* What a host needs to read the newest sample's time in this memory, for a
 * clock that its own samples and ours share; see <prof/format.h>. */

#include "sample/cpu_state.h"
#include "stream/encoder.h"

#include <prof/format.h>

_Static_assert(offsetof(struct prof_ring, head) == 0 &&
                   offsetof(struct prof_ring, begin) == 3 * sizeof(void *) &&
                   offsetof(struct prof_ring, end) == 4 * sizeof(void *),
               "prof_outside.ring says so");
_Static_assert(offsetof(struct prof_stream_clock, zero_tsc) == 0 &&
                   offsetof(struct prof_stream_clock, factor) ==
                       sizeof(uint64_t),
               "prof_outside.clock says so");
_Static_assert(offsetof(struct prof_entry, tsc_high) ==
                   offsetof(struct prof_entry, tsc_low) + sizeof(uint32_t),
               "prof_outside.tsc_offset is that of 64 bits");

/* Constant, so that it costs nothing while the guest runs. */
const struct prof_outside prof_outside = {
    .magic = PROF_OUTSIDE_MAGIC,
    .word_bytes = sizeof(void *),
    .entry_bytes = sizeof(struct prof_entry),
    .tsc_offset = offsetof(struct prof_entry, tsc_low),
    .ring = &prof_cpus->ring, /* of the first CPU */
    .clock = &prof_encoder.clock,
    .uuid = prof_encoder.label.uuid,
};
