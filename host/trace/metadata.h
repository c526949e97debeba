/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_METADATA_H
#define TRACE_METADATA_H

/* The file "metadata" of a trace, in TSDL of the Common Trace Format 1.8. */

#include "trace/model.h"

#include <stdio.h>

/* Writes it for the stream (uuid); (image) is a path, NULL = unknown. */
void metadata_write(FILE *out, const uint8_t *uuid, const struct model *model,
                    const char *image);

/* The string (name) of the environment in the file (path), or NULL. */
char *metadata_env(const char *path, const char *name);

/* The hello's build-id as hexadecimal digits, at most 64 and a zero. */
void metadata_build_id(const struct event_hello *hello, char *text);

/* Prints a warning if the guest's format version is not ours. */
void metadata_check_version(const struct event_hello *hello);

/* "x86_64", "i386", or "unknown". */
const char *metadata_arch(const struct event_hello *hello);

#endif
