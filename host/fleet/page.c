/* SPDX-License-Identifier: Apache-2.0 */
/* The page of all guests: the list's JSON, the time of each service by the
 * minute, and which guests are odd among those of their service. */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/log.h"

#include <string.h>
#include <time.h>

#define ODD_ABOVE 5

static json_t *minutes_of(const struct fleet *fleet)
{
    static const char *const names[] = {"guests",  "ticks",  "attributed",
                                        "idle",    "masked", "unresolved",
                                        "dropped", "missed", "stolen_ns"};
    struct store_answer answer;
    json_t *list = json_array();

    fleet_ask(fleet, "minutes", &answer);
    for (size_t row = 0; row < answer.rows; ++row) {
        json_t *minute = json_object();

        json_set(minute, "service", json_text(store_value(&answer, row, 0)));
        json_set(minute, "at", json_count(store_u64(&answer, row, 1)));
        json_set(minute, "build", json_text(store_value(&answer, row, 2)));
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
            json_set(minute, names[i],
                     json_count(store_u64(&answer, row, 3 + i)));
        json_array_append_new(list, minute);
    }
    store_answer_free(&answer);
    return list;
}

/* {guest: "mix 9.1"} for the guests of (fleet) that are odd. */
static void add_odd(const struct fleet *fleet, json_t *all)
{
    struct fleet_odd odd;

    fleet_odd(fleet, ODD_ABOVE, 0, &odd);
    for (size_t i = 0; i < odd.odd; ++i) {
        const struct fleet_odd_guest *guest = &odd.list[i];
        char number[FLEET_NUMBER_MAX], text[64];

        snprintf(text, sizeof text, "%s %+.1f",
                 fleet_measure_name(guest->measure),
                 guest->deviations[guest->measure]);
        json_set(all, fleet_number_text(guest->guest->number, number),
                 json_text(text));
    }
    fleet_odd_free(&odd);
}

/* Guests are compared with those of their service. */
static json_t *odd_of(const struct fleet *fleet,
                      const struct fleet_guests *guests)
{
    struct fleet one = *fleet;
    json_t *all = json_object();

    for (size_t i = 0; i < guests->count; ++i) {
        const char *service = guests->list[i].service;

        if (i > 0 && strcmp(service, guests->list[i - 1].service) == 0)
            continue;
        one.service = service;
        add_odd(&one, all);
    }
    return all;
}

bool fleet_write_page(const struct fleet *fleet, unsigned seconds, FILE *out)
{
    struct fleet_guests guests;
    json_t *head;

    fleet_guests(fleet, &guests);
    fleet_claims(fleet, &guests);
    head = fleet_list_json(fleet, &guests);
    json_set(head, "minutes", minutes_of(fleet));
    json_set(head, "odd", odd_of(fleet, &guests));
    json_set(head, "bucket", json_count(STORE_BUCKET_SECONDS));
    json_set(head, "every", json_count(seconds));
    json_set(head, "made", json_count((uint64_t)time(NULL)));
    fleet_guests_free(&guests);
    return page_write_head(&page_fleet, head, NULL, out);
}
