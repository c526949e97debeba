/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NMI_H
#define NMI_H

#include <stdint.h>

/* The NMI's handler: counts, and calls prof_sample() with what it has
 * interrupted. Entered by the CPU. */
void nmi_handler(void);
extern volatile uint32_t nmi_ticks;

#endif
