/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_OPTIONS_H
#define KERNEL_OPTIONS_H

#include <stdbool.h>

/*
 * Sets net.KEY=value. False: unknown key, invalid value, or no network in the
 * image. Contexts: boot.
 */
bool net_option(const char *key, const char *value);

/* The same of disk.KEY=value, in images with tasks. Contexts: boot. */
bool disk_option(const char *key, const char *value);

/* The same of prof.port and prof.token, in images with the profiler's port.
 * Contexts: boot. */
bool profile_server_option(const char *key, const char *value);

/*
 * Sets each option "key=value" of (command_line); options are separated by
 * blanks. prof.port and prof.token go to the profiler's port, prof.vsock to the
 * transport of that name, all other prof.* to the profiler, net.* to the
 * network, clock to the kernel's clock, statistics to statistics.h, all others
 * to the service. A first word without '=' is skipped: loaders put the image's
 * name there. Unknown and invalid options are printed and ignored. Contexts:
 * boot, once, before the service starts.
 */
void options_apply(const char *command_line);

#endif
