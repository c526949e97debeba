/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_FOLLOW_H
#define PROF_TRACE_FOLLOW_H

/*
 * Brings the table of objects up to what the ring has: when an object begins,
 * ends, or gets a label. These records are held (recorder.h): none of them is
 * overwritten before the table has it, in any mode. So the table is exact,
 * though events do not touch it.
 *
 * Records are taken in their order, by one at a time: the drain, or a producer
 * whose slot is held, some records at once. An interrupt that finds its slot
 * held while another is at it sets that record aside; who is at it takes it in
 * its turn. tests/model/follow.pml has the proof, for interrupts that do not go
 * around the ring in the middle of one event. If they do, or if there is no
 * room to set a record aside, an event is left out: lost, and counted. An
 * object whose creation is left out is PROF_TRACE_UNKNOWN.
 */

#include "trace/recorder.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins with the ring. Contexts: thread, nothing is recorded. */
void prof_follow_open(const struct prof_trace_cpu *cpu);

/* Takes all there is. Contexts: thread; (panic): in the middle of anything. */
void prof_follow(const struct prof_trace_cpu *cpu, bool panic);

/* Makes that (record) is not held. False: it is being written, or there is no
 * room to set it aside. Contexts: any. */
bool prof_follow_release(const struct prof_trace_cpu *cpu,
                         struct prof_trace_record *record);

#endif
