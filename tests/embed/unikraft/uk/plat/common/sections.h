/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UK_SECTIONS_H
#define UK_SECTIONS_H

#include <stdint.h>

extern char code_begin[], code_end[];
#define __TEXT ((uintptr_t)code_begin)
#define __ETEXT ((uintptr_t)code_end)

#endif
