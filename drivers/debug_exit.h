/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEBUG_EXIT_H
#define DEBUG_EXIT_H

#include <stdint.h>

/*
 * Ends QEMU when it was started with -device isa-debug-exit,iobase=0xf4: its
 * exit status is then (code) * 2 + 1. Without that device nobody hears, and
 * the CPU stops for good. Contexts: any. Does not return.
 */
void debug_exit(uint8_t code) __attribute__((noreturn));

#endif
