/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_OPTIONS_H
#define KERNEL_OPTIONS_H

/*
 * Takes every "key=value" of (command_line), words parted by blanks: prof.*
 * goes to the profiler, all others to the service. A first word without '='
 * is the image's name as loaders write it there, and skipped. What nobody
 * knows or can use is named in one line and ignored.
 * Contexts: boot, once, before the service begins.
 */
void options_apply(const char *command_line);

#endif
