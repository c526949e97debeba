/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

/* Formats of other tools. Each writes the selected samples of a view and
 * returns whether all of it was written. None needs a seekable output. */

#include "profile/view.h"

#include <stdio.h>

/* Folded stacks: "outermost;...;innermost WEIGHT" for each stack, weight being
 * samples, or nanoseconds if time is the weight. */
bool export_folded(struct view *view, FILE *out);

/* pprof's profile.proto: samples and nanoseconds. */
bool export_pprof(struct view *view, FILE *out);

/* Linux perf's perf.data; the period of a sample is its weight. */
bool export_perf(struct view *view, FILE *out);

/* The Firefox Profiler's JSON. */
bool export_firefox(struct view *view, FILE *out);

/* Chrome's Trace Event JSON: slices of time. */
bool export_chrome(struct view *view, FILE *out);

/* Perfetto's protocol buffers: samples. */
bool export_perfetto(struct view *view, FILE *out);

/* callgrind.out: samples and nanoseconds, of lines and calls. */
bool export_callgrind(struct view *view, FILE *out);

struct export_format {
    const char *name;
    bool (*write)(struct view *view, FILE *out);
    bool is_text;
    bool is_gzip;   /* its readers want it compressed */
    bool has_lines; /* view->lines is to be set before the view is opened */
    bool has_tasks; /* and the tasks be read with it */
};

/* The format of that name, or NULL. */
const struct export_format *export_format(const char *name);

/* Writes (format), compressed if that is how it is read or if (gzip). */
bool export_write(const struct export_format *format, bool gzip,
                  struct view *view, FILE *out);

#endif
