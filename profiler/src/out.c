/* SPDX-License-Identifier: Apache-2.0 */

/* Which way the packets go; the ways themselves are the image's. */

#include "cpu.h"
#include "drain.h"
#include "equal.h"
#include "shm.h"
#include "stacks.h"
#include "stream.h"

#include <prof/out.h>
#include <prof/port.h>
#include <prof/prof.h>

static void say_missing(const char *asked, const struct prof_out *taken)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, "prof: prof.out=");
    prof_text_string(&out, asked);
    prof_text_string(&out, ": no such device; ");
    if (taken != NULL)
        prof_text_string(&out, "the stream goes to ");
    prof_text_string(&out, taken != NULL ? taken->name : "there is no stream");
    prof_text_char(&out, '\n');
    prof_text_flush(&out);
}

/* The first that opens, from the one named (asked) on; from the first on where
 * (asked) is none of them. */
static const struct prof_out *find(const char *asked,
                                   const struct prof_out *outs, size_t count)
{
    size_t at = 0;

    while (at < count && !prof_equal(outs[at].name, asked))
        at++;
    if (at == count)
        at = 0;
    while (at < count && !outs[at].open())
        at++;
    return at < count ? &outs[at] : NULL;
}

const struct prof_out *prof_out_choose(const struct prof_out *outs,
                                       size_t count)
{
    const char *asked = prof_options()->out;
    const struct prof_out *taken = NULL;

    if (prof_equal(asked, "off")) {
        prof_stream_open(NULL, NULL);
        return NULL;
    }
    if (prof_equal(asked, prof_shm_out.name) && prof_shm_out.open())
        taken = &prof_shm_out;
    else
        taken = find(asked, outs, count);
    if (taken == NULL || !prof_equal(taken->name, asked))
        say_missing(asked, taken);
    prof_stream_open(taken, prof_stacks_tell);
    return taken;
}

/* What was drained goes first: to drain the rest means to believe the heap,
 * which may be what the image dies of. */
void prof_out_panic(uint32_t code)
{
    prof_stream_push();
    if (prof_stream_on())
        prof_drain_last();
    prof_stream_end(prof_tsc(), code);
}

void prof_out_use(const struct prof_out *out)
{
    prof_stream_open(out, out != NULL ? prof_stacks_tell : NULL);
}

void prof_out_end(uint32_t code)
{
    prof_stream_end(prof_tsc(), code);
}
