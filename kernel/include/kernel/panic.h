/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

/* Exit code of an image that panicked, seen by whoever started QEMU. */
#define PANIC_EXIT_CODE 101

/*
 * Says (why) with file and line, prints registers and a backtrace with names,
 * and ends the image. Needs no heap and trusts no stack. Contexts: any.
 */
#define panic(why) panic_at(__FILE__, __LINE__, (why))
void panic_at(const char *file, int line, const char *why)
    __attribute__((noreturn));

#endif
