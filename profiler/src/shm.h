/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SHM_H
#define PROF_SHM_H

/* The stream in memory, where the host reads it (struct prof_share). */

#include <prof/out.h>

extern const struct prof_out prof_shm_out;

#endif
