/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include "../kernel64.h"

#define KERNEL_TICK_HZ 1024

extern "C" {
extern const char code_begin[], code_end[];
}

/* parasite.cpp */
bool profiler_start();

#endif
