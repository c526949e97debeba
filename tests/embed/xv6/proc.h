/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_XV6_PROC_H
#define EMBED_XV6_PROC_H

#define CPUS 3

extern volatile uint nmis; /* that the kernel has got */

#endif
