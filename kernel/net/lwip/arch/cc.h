/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_LWIP_CC_H
#define KERNEL_NET_LWIP_CC_H

/* What lwIP requires of the compiler and the system. */

#include <stddef.h>
#include <stdint.h>

/* Defined in kernel/net/port.c. */
uint32_t net_port_random(void);
void *net_port_alloc(size_t bytes);
void *net_port_alloc_zeroed(size_t count, size_t bytes);
void net_port_free(void *piece);
void net_port_broken(const char *file, int line, const char *what)
    __attribute__((noreturn));

#define LWIP_RAND() net_port_random()
#define LWIP_PLATFORM_DIAG(message)
#define LWIP_PLATFORM_ASSERT(what) net_port_broken(__FILE__, __LINE__, what)

#endif
