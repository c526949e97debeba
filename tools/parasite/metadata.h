/* SPDX-License-Identifier: Apache-2.0 */
#ifndef METADATA_H
#define METADATA_H

/* The file "metadata" of a trace: what the stream's bytes mean, in the
 * language of the Common Trace Format 1.8 (TSDL). */

#include "model.h"

#include <stdio.h>

/* Writes it for the stream of boot (uuid). (image) is remembered as the path
 * of the image, NULL = unknown. */
void metadata_write(FILE *out, const uint8_t *uuid, const struct model *model,
                    const char *image);

/* What the environment of the metadata in the file (path) says for (name),
 * which is a string; NULL if there is none. */
char *metadata_env(const char *path, const char *name);

/* The hello's build-id as hexadecimal digits, at most 64 and a zero. */
void metadata_build_id(const struct model_hello *hello, char *text);

/* Says so if the guest's format has another version than ours. */
void metadata_check_version(const struct model_hello *hello);

/* "x86_64", "i386", or "unknown". */
const char *metadata_arch(const struct model_hello *hello);

#endif
