/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LK_KERNEL_THREAD_H
#define LK_KERNEL_THREAD_H

#include <arch/ops.h>

typedef struct thread thread_t;

thread_t *get_current_thread(void);

/* From its next sleep on (thread) runs on (cpu) only. */
void thread_set_pinned_cpu(thread_t *thread, int cpu);

void thread_sleep(uint milliseconds);

#endif
