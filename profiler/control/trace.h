/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONTROL_TRACE_H
#define PROF_CONTROL_TRACE_H

/* The command `trace on`: records in the mode prof.trace, or if that is off as
 * a stream. Opens the recorder if need be. Contexts: thread. Returns 0 or a
 * negative enum prof_error. */
int prof_trace_command_on(void);

#endif
