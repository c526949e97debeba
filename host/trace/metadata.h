/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_METADATA_H
#define TRACE_METADATA_H

/* The file "metadata" of a trace: what the stream's bytes mean, in the
 * language of the Common Trace Format 1.8 (TSDL). */

#include "trace/model.h"

#include <stdio.h>

/* Writes it for the stream of boot (uuid). (image) is stored as the path of the
 * image, NULL = unknown. */
void metadata_write(FILE *out, const uint8_t *uuid, const struct model *model,
                    const char *image);

/* Returns the string (name) from the environment in the metadata file (path),
 * NULL if it has none. */
char *metadata_env(const char *path, const char *name);

/* The hello's build-id as hexadecimal digits, at most 64 and a zero. */
void metadata_build_id(const struct event_hello *hello, char *text);

/* Prints a warning if the guest's format version is not ours. */
void metadata_check_version(const struct event_hello *hello);

/* "x86_64", "i386", or "unknown". */
const char *metadata_arch(const struct event_hello *hello);

#endif
