/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_SHOW_H
#define ATTACH_SHOW_H

#include "attach/sampler.h"

#include <stdio.h>

/* The guest is stopped: prints of every CPU, also of halted ones, its
 * registers, the instructions around it, the words on its stack and its
 * callers. (image) may be NULL. */
void show_cpus(FILE *out, struct sampler *sampler, struct image *image);

#endif
