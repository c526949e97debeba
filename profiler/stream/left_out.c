/* SPDX-License-Identifier: Apache-2.0 */

/* What others call of the stream where it was left out (<prof/config.h>);
 * the module's own calls are in left_out.h. */

#include <prof/config.h>
#include <prof/transport.h>

#if PROF_WITH_STREAM
#error "this is compiled only without the stream; see tools/build/sources.py"
#endif

void prof_transport_text(const void *packet, size_t bytes, prof_text_sink *sink)
{
    (void)packet;
    (void)bytes;
    (void)sink;
}
