/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Samples and the nodes of their stacks.
 *
 * Most samples are of a node that the reader knows, and of the others most are
 * below callers that it knows. Both are put in here in a few steps; what else
 * may come with a sample (a full packet, a new one, callers that are due, what
 * has no short form) is in put_slowly().
 */

#include "stream/encoder.h"
#include "stream/packet_short.h"

#define PATH_MAX 192u  /* nodes of a stack, more than there can be */
#define FITTING_MAX 3u /* packets begun for one sample */

static struct prof_encoder *const stream = &prof_encoder;
static struct prof_packet_maker *const packet = &prof_encoder.packet;

static inline bool is_due(uint32_t note)
{
    return prof_interning_due(&stream->interning, stream->label.sequence, note);
}

static void note_defined(struct prof_stream_node *known)
{
    known->note = prof_interning_defined(stream->label.sequence, known->note);
}

/* Node (node), which is (known), as events define it. */
static struct prof_packet_node definition(uint32_t node,
                                          const struct prof_stream_node *known)
{
    return (struct prof_packet_node){node, known->parent, known->address};
}

/* Defines those of (node) and its callers that are due, the outermost first.
 * False: there was no room for all of them. */
static bool define_callers(uint32_t node)
{
    struct prof_stream_node *known;
    struct prof_packet_node put;
    uint32_t path[PATH_MAX];
    uint32_t count = 0;

    while (count < PATH_MAX && !prof_is_checked(&stream->checked, node)) {
        known = stream->tree(node);
        if (known == NULL)
            break;
        if (is_due(known->note))
            path[count++] = node;
        prof_checked_add(&stream->checked, node);
        node = known->parent;
    }
    while (count-- > 0) {
        if (!prof_packet_fits(packet, PROF_PACKET_NODE_MAX))
            return false;
        known = stream->tree(path[count]);
        put = definition(path[count], known);
        prof_packet_node(packet, stream->last, &put);
        note_defined(known);
    }
    return true;
}

/* Puts a sample of (node), which is (leaf), and before it the definitions that
 * are due. False: the packet is full. Then all of it begins anew in the next,
 * which may not depend on this one. */
static bool put_defined(uint64_t clock, uint32_t node,
                        struct prof_stream_node *leaf)
{
    struct prof_packet_node put;

    if (leaf == NULL || !is_due(leaf->note)) {
        prof_packet_sample(packet, clock, node);
        return true;
    }
    if (!define_callers(leaf->parent) ||
        !prof_packet_fits(packet, PROF_PACKET_LEAF_MAX))
        return false;
    put = definition(node, leaf);
    prof_packet_leaf(packet, clock, &put);
    note_defined(leaf);
    return true;
}

/* A sample of (node) where nothing else will do. */
static __attribute__((noinline)) void put_slowly(uint64_t clock, uint32_t node,
                                                 struct prof_stream_node *leaf)
{
    for (unsigned i = 0; i < FITTING_MAX; i++) {
        if (!prof_encoder_make_room(clock, PROF_PACKET_SAMPLE_MAX))
            break;
        if (put_defined(clock, node, leaf))
            return;
        prof_encoder_send();
    }
    stream->label.discarded++;
}

/* A sample of (node), which is to be defined first, in short forms. False: that
 * will not do; callers may have been defined. */
static inline bool put_leaf(uint64_t clock, uint32_t node,
                            struct prof_stream_node *leaf)
{
    struct prof_packet_node put;

    if (!prof_packet_has_room(packet, PROF_PACKET_LEAF_MAX) ||
        !prof_packet_is_short(packet, clock, node) ||
        (!prof_is_checked(&stream->checked, leaf->parent) &&
         !define_callers(leaf->parent)))
        return false;
    put = definition(node, leaf);
    if (!prof_packet_short_leaf(packet, clock, &put))
        return false;
    note_defined(leaf);
    return true;
}

void prof_stream_sample(uint64_t tsc, uint32_t node,
                        struct prof_stream_node *leaf)
{
    uint64_t clock;
    bool put = false;

    if (!prof_stream_on())
        return;
    if (node == 0) {
        prof_encoder_put_samples(PROF_EVENT_IDLE, tsc, PROF_NO_FIELDS, 1);
        return;
    }
    clock = prof_encoder_clock(tsc);
    if (!stream->stuck && leaf != NULL)
        put = is_due(leaf->note)
                  ? put_leaf(clock, node, leaf)
                  : prof_packet_short_sample(packet, clock, node);
    if (!put)
        put_slowly(clock, node, leaf);
    stream->last = stream->sample_begin = clock;
}
