/* SPDX-License-Identifier: Apache-2.0 */
/* Each error has a line of its own, and any number at all has some line. */

#include "../unit.h"

#include <limits.h>
#include <prof/error.h>

static const int errors[] = {
    PROF_OK,           PROF_EMEMORY,
    PROF_ECONFIG,      PROF_ESTATE,
    PROF_ERATE,        PROF_EOPTION,
    PROF_EVALUE,       PROF_EGATE,
    PROF_EFIXED,       PROF_EPORT,
    PROF_EABSENT,      PROF_ESYM_NONE,
    PROF_ESYM_SHORT,   PROF_ESYM_MAGIC,
    PROF_ESYM_CRC,     PROF_ESYM_LAYOUT,
    PROF_ESYM_ORDER,   PROF_ESYM_NAME,
    PROF_ESYM_BUILD,   PROF_ESYM_WIDTH,
    PROF_ESYM_INDEX,   PROF_EFLIGHT,
    PROF_ELOOP,        PROF_EPATCH_NAME,
    PROF_EPATCH_NAMES, PROF_EPATCH_SHORT,
    PROF_EPATCH_CODE,  PROF_EPATCH_BRANCH,
    PROF_EPATCH_OWN,   PROF_ECAUSAL,
    PROF_ECAUSAL_RUNS, PROF_ECAUSAL_MEMORY,
    PROF_EPATCH_ROOM,  PROF_EONE_SHOT,
    PROF_EPATCH_LINE,  PROF_EPATCH_RANGES,
    PROF_EPATCH_KIND,
};
#define ERRORS (COUNT(errors))

TEST(each_error_has_a_line_of_its_own)
{
    for (size_t i = 0; i < ERRORS; ++i) {
        const char *line = prof_strerror(errors[i]);

        assert_non_null(line);
        assert_null(strchr(line, '\n'));
        assert_string_not_equal(line, "unknown error");
        for (size_t k = 0; k < i; ++k)
            assert_string_not_equal(line, prof_strerror(errors[k]));
    }
}

TEST(a_number_that_is_no_error_has_a_line_too)
{
    assert_string_equal(prof_strerror(1), "unknown error");
    assert_string_equal(prof_strerror(-1000), "unknown error");
    assert_string_equal(prof_strerror(INT_MIN), "unknown error");
    assert_string_equal(prof_strerror(INT_MAX), "unknown error");
}
