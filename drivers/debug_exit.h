/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEBUG_EXIT_H
#define DEBUG_EXIT_H

#include <stdint.h>

/*
 * Ends QEMU with exit status (code) * 2 + 1 if it was started with -device
 * isa-debug-exit,iobase=0xf4. Otherwise the CPU halts forever. Contexts: any.
 * Does not return.
 */
void debug_exit(uint8_t code) __attribute__((noreturn));

#endif
