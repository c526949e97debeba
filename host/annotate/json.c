/* SPDX-License-Identifier: Apache-2.0 */
/* Annotated functions as JSON, one object at a time. */

#include "annotate/annotate.h"
#include "base/json.h"
#include "base/log.h"
#include "page/page.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)

static json_t *count_ns(const struct model_count *count)
{
    return json_count(count->clocks * NS_PER_CLOCK);
}

static void put_value(FILE *out, json_t *value)
{
    json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(value);
}

static json_t *address_text(uint64_t address)
{
    char text[24];

    snprintf(text, sizeof text, "0x%" PRIx64, address);
    return json_text(text);
}

static json_t *names_list(const char *names)
{
    json_t *list = json_array();
    char *rest = strdup(names), *at = rest;
    const char *name;

    while (*names != '\0' && (name = strsep(&at, "\n")) != NULL)
        json_array_append_new(list, json_text(name));
    free(rest);
    return list;
}

static json_t *code_object(const struct annotate *annotate,
                           const struct annotate_code *code)
{
    json_t *object = json_pack(
        "{so so so sI so so}", "address", address_text(code->address), "text",
        json_text(code->text), "file",
        json_text(annotate_name(annotate, code->file)), "line",
        (json_int_t)code->line, "self", json_count(code->self.samples),
        "self_ns", count_ns(&code->self));

    if (code->inlined != 0)
        json_set(object, "inlined",
                 names_list(annotate_name(annotate, code->inlined)));
    return object;
}

static json_t *line_object(struct annotate *annotate,
                           const struct annotate_line *line)
{
    const char *path = annotate_name(annotate, line->file);
    const char *text = listing_line(&annotate->listing, path, line->line);

    return json_pack("{so sI so sb so so}", "file", json_text(path), "line",
                     (json_int_t)line->line, "text",
                     text != NULL ? json_text(text) : json_null(), "code",
                     (int)line->has_code, "self",
                     json_count(line->self.samples), "self_ns",
                     count_ns(&line->self));
}

static void put_function(struct annotate *annotate,
                         const struct annotate_function *function, FILE *out)
{
    fputs("\n {\"symbol\": ", out);
    put_value(out, json_text(annotate_name(annotate, function->name)));
    fputs(", \"address\": ", out);
    put_value(out, address_text(function->symbol->start));
    fprintf(out,
            ", \"self\": %" PRIu64 ", \"self_ns\": %" PRIu64
            ", \"self_percent\": %.6f,\n  \"lines\": [",
            function->self.samples, function->self.clocks * NS_PER_CLOCK,
            annotate_percent(annotate, &function->self, &annotate->sum));
    for (size_t i = 0; i < function->line_count; ++i) {
        fputs(i > 0 ? ",\n   " : "\n   ", out);
        put_value(out, line_object(annotate, &function->lines[i]));
    }
    fputs("],\n  \"instructions\": [", out);
    for (size_t i = 0; i < function->code_count; ++i) {
        fputs(i > 0 ? ",\n   " : "\n   ", out);
        put_value(out, code_object(annotate, &function->code[i]));
    }
    fputs("]}", out);
}

bool annotate_write_json(struct annotate *annotate, FILE *out)
{
    const struct model *model = &annotate->view->model;

    fputs("{\"trace\": ", out);
    put_value(out, json_text(annotate->view->trace.path));
    fprintf(out,
            ", \"arch\": \"%s\", \"hz\": %g, \"samples\": %" PRIu64
            ", \"ns\": %" PRIu64 ", \"lost\": %" PRIu64
            ", \"missed_ticks\": %" PRIu64 ", \"stolen_ns\": %" PRIu64
            ", \"steady\": %s"
            ", \"weight\": \"%s\", \"functions_not_shown\": %zu%s,\n"
            "\"functions\": [",
            metadata_arch(&model->hello), model->rate_mhz / 1000.0,
            annotate->sum.samples, annotate->sum.clocks * NS_PER_CLOCK,
            model_lost(model), model->missed_ticks,
            model->stolen_clocks * NS_PER_CLOCK,
            model_is_steady(model) ? "true" : "false",
            view_weight_name(annotate->view),
            annotate->function_keys.count - annotate->shown,
            annotate->is_served ? ", \"served\": true" : "");
    for (size_t i = 0; i < annotate->shown; ++i) {
        fputs(i > 0 ? "," : "", out);
        put_function(annotate, &annotate->functions[i], out);
    }
    fputs("\n]}\n", out);
    return !ferror(out);
}

/* ---- the page: its payload is the JSON document, without columns */

bool annotate_write_page(struct annotate *annotate, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    bool written;

    if (memory == NULL || !annotate_write_json(annotate, memory) ||
        fclose(memory) != 0)
        die("out of memory");
    written = page_write(&page_annotate, text, NULL, 0, out);
    free(text);
    return written;
}
