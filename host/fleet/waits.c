/* SPDX-License-Identifier: Apache-2.0 */
/* What the tasks of a service waited for. */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/text.h"

void fleet_waits(const struct fleet *fleet, struct store_answer *answer)
{
    fleet_ask(fleet, "waits", answer);
}

static double ns_each(const struct store_answer *answer, size_t row)
{
    uint64_t count = store_u64(answer, row, 2);

    return count > 0 ? (double)store_u64(answer, row, 3) / (double)count : 0;
}

static const char *place_of(const struct store_answer *answer, size_t row)
{
    const char *place = store_value(answer, row, 0);

    return place != NULL && *place != '\0' ? place : "[unknown]";
}

void fleet_waits_print(const struct fleet *fleet,
                       const struct store_answer *answer, size_t rows,
                       FILE *out)
{
    char number[NUMBER_TEXT_MAX], all[FLEET_NS_MAX], mean[FLEET_NS_MAX];

    fleet_print_head(fleet, out);
    fprintf(out,
            "      in all        mean       waits  for, by what was created "
            "where\n");
    for (size_t i = 0; i < answer->rows && (rows == 0 || i < rows); ++i) {
        fprintf(out, "%12s%12s%12s  ",
                fleet_ns_text((double)store_u64(answer, i, 3), all),
                fleet_ns_text(ns_each(answer, i), mean),
                number_count(store_u64(answer, i, 2), number));
        printable_put(out, store_value(answer, i, 1));
        fputs(", ", out);
        printable_put(out, place_of(answer, i));
        putc('\n', out);
    }
    if (rows > 0 && answer->rows > rows)
        fprintf(out, "and %zu more\n", answer->rows - rows);
}

json_t *fleet_waits_json(const struct fleet *fleet,
                         const struct store_answer *answer)
{
    json_t *object = fleet_json(fleet), *list = json_array();

    for (size_t i = 0; i < answer->rows; ++i) {
        json_t *row = json_object();

        json_set(row, "place", json_text(place_of(answer, i)));
        json_set(row, "why", json_text(store_value(answer, i, 1)));
        json_set(row, "waits", json_count(store_u64(answer, i, 2)));
        json_set(row, "ns", json_count(store_u64(answer, i, 3)));
        json_array_append_new(list, row);
    }
    json_set(object, "waits", list);
    return object;
}
