/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_FIND_H
#define IMAGE_FIND_H

/*
 * Where the symbols of a trace come from. Of these the first that is there, and
 * is of the image that was profiled:
 *
 *     the images that were given with -k
 *     those at the paths that the trace remembers
 *     those of their build-ids in the cache 
 *     the symbols in the trace itself (stored.h)
 *
 * That is known from the build-ids. Where an image has none, its functions are
 * compared with those in the trace, if it has any.
 */

#include "image/image.h"
#include "trace/trace.h"

enum image_from {
    IMAGE_FROM_NOWHERE,
    IMAGE_FROM_OPTION,
    IMAGE_FROM_PATH,
    IMAGE_FROM_CACHE,
    IMAGE_FROM_TRACE,
};

/* "option", "image", "cache", "trace" or "none". */
const char *image_from_text(enum image_from from);

/* Fills (image), which is empty if there are no symbols. (given) are the paths
 * of -k, or NULL; if these are not of the image that was profiled, says so and
 * ends the process, unless (force). If what the trace remembers is another
 * image by now and there is nothing else, says so, and takes it with (force).
 */
enum image_from image_find(struct image *image, const struct trace *trace,
                           const struct event_hello *hello, const char *given,
                           bool force);

/* The same for a guest that runs, which has left no trace: only the cache. */
enum image_from image_find_cached(struct image *image,
                                  const struct event_hello *hello);

/* Keeps (image) in the cache, reads its lines, and returns what a trace of it
 * stores, to be freed; NULL if there are no symbols, or too many. */
uint8_t *image_remember(struct image *image, size_t *bytes);

#endif
