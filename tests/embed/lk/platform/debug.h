/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LK_PLATFORM_DEBUG_H
#define LK_PLATFORM_DEBUG_H

void platform_dputc(char c);

#endif
