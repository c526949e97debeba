/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_ONCE_H
#define ATTACH_ONCE_H

#include "attach/sampler.h"

#include <stdio.h>

/* The guest is stopped: prints the stack of every CPU, with names from
 * sampler->image. Halted CPUs too. */
void once_print(FILE *out, struct sampler *sampler, struct image *image);

#endif
