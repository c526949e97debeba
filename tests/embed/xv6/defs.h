/* SPDX-License-Identifier: Apache-2.0 */
/* As in xv6, as much of it as the kit needs. */

extern uint ticks;

int cpuid(void);
void scheduler(void) __attribute__((noreturn));
void uartputc(int character);
void wakeup(void *channel);
