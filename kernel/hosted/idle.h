/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HOSTED_IDLE_H
#define KERNEL_HOSTED_IDLE_H

/* What ends the event loop's wait: files that are ready, and its timers. */

#include <stdint.h>
#include <sys/epoll.h>

/* The set of files that arch_idle() waits for, as of epoll_create1(). A file in
 * it ends the wait for as long as it is ready. Contexts: thread. */
int hosted_files(void);

#endif
