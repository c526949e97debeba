/* SPDX-License-Identifier: Apache-2.0 */
/* What the outputs have in common. */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

const char *fleet_number_text(uint64_t number, char *text)
{
    snprintf(text, FLEET_NUMBER_MAX, "%016" PRIx64, number);
    return text;
}

const char *fleet_time_text(uint32_t seconds, char *text)
{
    time_t time = seconds;
    struct tm parts;

    gmtime_r(&time, &parts);
    strftime(text, FLEET_TIME_MAX, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

void fleet_print_head(const struct fleet *fleet, FILE *out)
{
    char since[FLEET_TIME_MAX], until[FLEET_TIME_MAX];

    fputs("# ", out);
    printable_put(out,
                  fleet->service != NULL ? fleet->service : "all services");
    for (unsigned i = 0; i < fleet->build_count; ++i)
        fprintf(out, "%s %.12s", i == 0 ? ", build" : " and", fleet->builds[i]);
    fprintf(out, ", %.16s to %.16s UTC\n", fleet_time_text(fleet->since, since),
            fleet_time_text(fleet->until, until));
}

json_t *fleet_json(const struct fleet *fleet)
{
    json_t *object = json_object(), *builds = json_array();

    for (unsigned i = 0; i < fleet->build_count; ++i)
        json_array_append_new(builds, json_text(fleet->builds[i]));
    json_set(object, "service",
             fleet->service != NULL ? json_text(fleet->service) : json_null());
    json_set(object, "since", json_count(fleet->since));
    json_set(object, "until", json_count(fleet->until));
    json_set(object, "builds", builds);
    return object;
}

json_t *fleet_real(double value)
{
    char text[32];

    if (!isfinite(value))
        return json_null();
    snprintf(text, sizeof text, "%.9g", value);
    return json_real(strtod(text, NULL));
}

const char *fleet_ns_text(double ns, char *text)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;

    while (i < 3 && ns < units[i].ns)
        ++i;
    snprintf(text, FLEET_NS_MAX, "%.3g %s", ns / units[i].ns, units[i].name);
    return text;
}
