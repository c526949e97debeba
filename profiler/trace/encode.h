/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_ENCODE_H
#define PROF_TRACE_ENCODE_H

/*
 * From records to events, for the stream and for dumps. Contexts: thread,
 * panic. Nothing is allocated. All return false where the transport refuses.
 */

#include "trace/recorder.h"

#include <prof/format.h>
#include <stdbool.h>
#include <stdint.h>

/* Puts (record), which happened at (tsc), with the definitions that are due
 * before it. */
bool prof_trace_encode(struct prof_trace_reader *reader, uint64_t tsc,
                       const struct prof_trace_record *record);

/* Puts an event of (kind) with its (fields), with no names. */
bool prof_trace_encode_plain(struct prof_trace_reader *reader,
                             enum prof_event kind, uint64_t tsc,
                             const void *fields, uint32_t bytes);

/* Puts RECORDED: how many events of objects there should be before it. */
bool prof_trace_encode_count(struct prof_trace_reader *reader, uint64_t tsc);

/* Puts the definition of name (number), if it is due. */
bool prof_trace_encode_name(struct prof_trace_reader *reader, uint64_t tsc,
                            uint32_t number);

/* Whether (bytes) more fit at (tsc) into the packet of a dump or a new one. */
bool prof_trace_history_room(struct prof_packet_writer *writer, uint64_t tsc,
                             uint32_t bytes);

#endif
