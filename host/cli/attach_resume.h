/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ATTACH_RESUME_H
#define CLI_ATTACH_RESUME_H

/* A guest that was left paused: whoever stopped it for a sample was killed. */

/* Connects to gdb:HOST:PORT or gdb:unix:PATH; ends the process on failure. */
int attach_connect(const char *target);

/* Lets the guest of such a target, or of a monitor, qmp:HOST:PORT or
 * qmp:unix:PATH, go on, and prints what it was found to do. Each answer may
 * take (timeout) seconds. Returns the exit status. */
int attach_resume(const char *target, double timeout);

#endif
