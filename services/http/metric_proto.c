/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From one format to the other, line by line: so that each metric is described
 * in one place. The text is this service's own: no line is malformed.
 */

#include "metric_proto.h"

#include "protobuf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct family {
    struct http_text message;
    unsigned type;
    bool open;
    bool left_out; /* a histogram */
};

void metric_proto_label(struct http_text *metric, const char *name,
                        const char *value, size_t count)
{
    struct http_text label = {0};

    protobuf_string(&label, LABEL_NAME, name);
    protobuf_bytes(&label, LABEL_VALUE, value, count);
    protobuf_message(metric, METRIC_LABEL, &label);
}

/* Removes the backslashes from a label's value up to its quote; returns what
 * follows that. */
static const char *unescape(const char *from, struct http_text *value)
{
    for (; *from != '"'; from++) {
        if (*from == '\\')
            from++;
        http_text_add(value, *from == 'n' && from[-1] == '\\' ? "\n" : from, 1);
    }
    return from + 1;
}

/* {name="value",...}; returns what follows. */
static const char *take_labels(const char *at, struct http_text *metric)
{
    while (*at++ != '}') { /* after '{' or ',' */
        struct http_text value = {0};
        char name[64] = "";
        size_t length = strcspn(at, "=");

        memcpy(name, at, length < sizeof name ? length : 0);
        at = unescape(at + length + 2, &value);
        metric_proto_label(metric, name, value.bytes, value.count);
        metric->failed = metric->failed || value.failed;
        http_text_free(&value);
    }
    return at;
}

static void end_family(struct http_text *out, struct family *family)
{
    if (family->open && !family->left_out)
        protobuf_delimited(out, &family->message);
    else
        http_text_free(&family->message);
    *family = (struct family){.open = false};
}

/* HELP comes first and begins a family, then TYPE. */
static void take_comment(struct http_text *out, struct family *family,
                         char *line)
{
    char *name = line + strlen("# HELP "), *rest = strchr(name, ' ');

    *rest++ = '\0';
    if (strncmp(line, "# HELP ", 7) == 0) {
        end_family(out, family);
        family->open = true;
        protobuf_string(&family->message, FAMILY_NAME, name);
        protobuf_string(&family->message, FAMILY_HELP, rest);
        return;
    }
    family->type = strcmp(rest, "gauge") == 0 ? TYPE_GAUGE : TYPE_COUNTER;
    family->left_out = strcmp(rest, "histogram") == 0;
    protobuf_uint(&family->message, FAMILY_TYPE, family->type);
}

static void take_sample(struct family *family, const char *line)
{
    struct http_text metric = {0}, value = {0};
    const char *at = line + strcspn(line, "{ ");

    if (*at == '{')
        at = take_labels(at, &metric);
    protobuf_double(&value, VALUE, strtod(at, NULL));
    protobuf_message(&metric,
                     family->type == TYPE_GAUGE ? METRIC_GAUGE : METRIC_COUNTER,
                     &value);
    protobuf_message(&family->message, FAMILY_METRIC, &metric);
}

void metric_proto(struct http_text *out, const struct http_text *text)
{
    struct family family = {.open = false};
    char *copy = malloc(text->count + 1), *line, *end;

    if (copy == NULL) {
        out->failed = true;
        return;
    }
    memcpy(copy, text->bytes, text->count);
    copy[text->count] = '\0';
    for (line = copy; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        if (*line == '#')
            take_comment(out, &family, line);
        else if (!family.left_out)
            take_sample(&family, line);
    }
    end_family(out, &family);
    out->failed = out->failed || text->failed;
    free(copy);
}
