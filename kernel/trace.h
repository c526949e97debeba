/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

/* Reports interrupts and requests to devices to the recorder from now on.
 * Contexts: boot, once. */
void trace_start(void);

#endif
