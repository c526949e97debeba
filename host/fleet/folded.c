/* SPDX-License-Identifier: Apache-2.0 */
/* What a flame graph is drawn of, as JSON. */

#define _DEFAULT_SOURCE /* strsep() */

#include "fleet/fleet.h"

#include "base/json.h"

#include <string.h>

enum { BUILD, FOLDED, SAMPLES, NS };

json_t *fleet_stacks_json(const struct fleet *fleet)
{
    json_t *object = fleet_json(fleet), *list = json_array();
    struct store_answer answer;

    fleet_ask(fleet, "folded", &answer);
    for (size_t row = 0; row < answer.rows; ++row) {
        json_t *stack = json_object(), *functions = json_array();
        char *next = answer.values[row * answer.columns + FOLDED];

        json_set(stack, "build", json_text(store_value(&answer, row, BUILD)));
        while (next != NULL)
            json_array_append_new(functions, json_text(strsep(&next, "\n")));
        json_set(stack, "functions", functions);
        json_set(stack, "samples",
                 json_count(store_u64(&answer, row, SAMPLES)));
        json_set(stack, "ns", json_count(store_u64(&answer, row, NS)));
        json_array_append_new(list, stack);
    }
    store_answer_free(&answer);
    json_set(object, "stacks", list);
    return object;
}
