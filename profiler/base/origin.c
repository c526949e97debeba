/* SPDX-License-Identifier: Apache-2.0 */

#include <prof/origin.h>

uintptr_t (*prof_origin_of_patch)(uintptr_t address);
