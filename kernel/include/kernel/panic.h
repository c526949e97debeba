/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

/* Exit code of an image that panicked. */
#define PANIC_EXIT_CODE 101

/*
 * Prints (why) with file and line and a backtrace with names, and ends the
 * image. Does not use the heap, and does not trust the stack. Contexts: any.
 */
#define panic(why) panic_at(__FILE__, __LINE__, (why))
void panic_at(const char *file, int line, const char *why)
    __attribute__((noreturn));

#endif
