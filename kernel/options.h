/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_OPTIONS_H
#define KERNEL_OPTIONS_H

#include <stdbool.h>

/*
 * Takes net.KEY=value. False: there is no such key, the value is none, or the
 * image has no network. Contexts: boot.
 */
bool net_option(const char *key, const char *value);

/*
 * Takes every "key=value" of (command_line), words parted by blanks: prof.*
 * goes to the profiler, net.* to the network, clock to the kernel's clock,
 * vitals to vitals.h, all others to the service. A first word without '=' is
 * the image's name as loaders write it there, and skipped. What nobody knows
 * or can use is named in one line and ignored.
 * Contexts: boot, once, before the service begins.
 */
void options_apply(const char *command_line);

#endif
