/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a service, over all of its guests. */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/interval.h"

#include <stdlib.h>
#include <string.h>

static int by_self(const void *one, const void *other)
{
    const struct fleet_function *a = one, *b = other;

    if (a->self_ns != b->self_ns)
        return (a->self_ns < b->self_ns) - (a->self_ns > b->self_ns);
    if (a->total_ns != b->total_ns)
        return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
    return strcmp(a->name, b->name);
}

static int by_total(const void *one, const void *other)
{
    const struct fleet_function *a = one, *b = other;

    if (a->total_ns != b->total_ns)
        return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
    return by_self(one, other);
}

void fleet_top(const struct fleet *fleet, enum fleet_order order,
               struct fleet_top *top)
{
    *top = (struct fleet_top){0};
    fleet_ask(fleet, "functions", &top->answer);
    top->count = top->answer.rows;
    top->list = xreallocarray(NULL, top->count + 1, sizeof *top->list);
    for (size_t i = 0; i < top->count; ++i) {
        struct fleet_function *function = &top->list[i];

        *function = (struct fleet_function){
            .name = store_value(&top->answer, i, 0),
            .self_ns = store_u64(&top->answer, i, 1),
            .total_ns = store_u64(&top->answer, i, 2),
            .self_samples = store_u64(&top->answer, i, 3),
            .total_samples = store_u64(&top->answer, i, 4),
        };
        top->ns += function->self_ns; /* each sample is in one of them */
        top->samples += function->self_samples;
    }
    qsort(top->list, top->count, sizeof *top->list,
          order == FLEET_BY_SELF ? by_self : by_total);
}

void fleet_top_free(struct fleet_top *top)
{
    free(top->list);
    store_answer_free(&top->answer);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

void fleet_top_print(const struct fleet *fleet, const struct fleet_top *top,
                     size_t rows, FILE *out)
{
    char number[NUMBER_TEXT_MAX];

    fleet_print_head(fleet, out);
    fprintf(out, "    self      total      samples    function\n");
    for (size_t i = 0; i < top->count && (rows == 0 || i < rows); ++i) {
        const struct fleet_function *function = &top->list[i];

        fprintf(out, "%6.2f %%   %6.2f %%  %11s %c  ",
                100 * share(function->self_ns, top->ns),
                100 * share(function->total_ns, top->ns),
                number_count(function->total_samples, number),
                interval_is_few(function->total_samples) ? '?' : ' ');
        printable_put(out, function->name);
        putc('\n', out);
    }
    if (rows > 0 && top->count > rows)
        fprintf(out, "and %zu more functions\n", top->count - rows);
    fprintf(out, "%s samples, %.3f s of CPU time\n",
            number_count(top->samples, number), (double)top->ns / 1e9);
}

json_t *fleet_top_json(const struct fleet *fleet, const struct fleet_top *top)
{
    json_t *object = fleet_json(fleet), *list = json_array();

    for (size_t i = 0; i < top->count; ++i) {
        const struct fleet_function *function = &top->list[i];
        json_t *row = json_object();

        json_set(row, "function", json_text(function->name));
        json_set(row, "self_ns", json_count(function->self_ns));
        json_set(row, "total_ns", json_count(function->total_ns));
        json_set(row, "self_samples", json_count(function->self_samples));
        json_set(row, "total_samples", json_count(function->total_samples));
        json_set(row, "self_share",
                 fleet_real(share(function->self_ns, top->ns)));
        json_set(row, "total_share",
                 fleet_real(share(function->total_ns, top->ns)));
        json_array_append_new(list, row);
    }
    json_set(object, "samples", json_count(top->samples));
    json_set(object, "ns", json_count(top->ns));
    json_set(object, "functions", list);
    return object;
}
