/* SPDX-License-Identifier: Apache-2.0 */

/* Options: what is said is done, what makes no sense changes nothing. */

#include "../unit.h"

#include <prof/prof.h>

#define AT(field) offsetof(struct prof_options, field)

TEST(each_option_is_taken)
{
    const struct prof_options *o = prof_options();
    static const struct {
        const char *word;
        size_t at;
        uint32_t value;
    } numbers[] = {
        {"prof.hz=997", AT(hz), 997},
        {"prof.top=1", AT(top), 1},
        {"prof.width=80", AT(width), 80},
        {"prof.every=0", AT(every_ms), 0},
        {"prof.drain=10", AT(drain_ms), 10},
        {"prof.reports=4294967295", AT(reports), 4294967295u},
        {"prof.weight=count", AT(weight), PROF_WEIGHT_COUNT},
        {"prof.weight=time", AT(weight), PROF_WEIGHT_TIME},
        {"prof.form=classic", AT(form), PROF_FORM_CLASSIC},
        {"prof.form=shares", AT(form), PROF_FORM_SHARES},
        {"prof.report=tree", AT(report), PROF_REPORT_TREE},
        {"prof.report=folded", AT(report), PROF_REPORT_FOLDED},
        {"prof.report=top", AT(report), PROF_REPORT_TOP},
        {"prof.causal=auto", AT(causal), PROF_CAUSAL_MODE_AUTO},
        {"prof.causal=on", AT(causal), PROF_CAUSAL_MODE_ON},
        {"prof.accrue=smooth", AT(accrue), PROF_ACCRUE_SMOOTH},
        {"prof.accrue=entry", AT(accrue), PROF_ACCRUE_ENTRY},
        {"prof.accrue=auto", AT(accrue), PROF_ACCRUE_AUTO},
        {"prof.causal_for=60s", AT(causal_for_s), 60},
        {"prof.causal_for=86400", AT(causal_for_s), 86400},
        {"prof.causal_for=0", AT(causal_for_s), 0},
        {"prof.causal_until=2%", AT(causal_until), 2},
        {"prof.causal_until=19", AT(causal_until), 19},
        {"prof.causal_until=0%", AT(causal_until), 0},
        {"prof.tick=pit", AT(tick), PROF_TICK_CHOICE_PIT},
        {"prof.tick=auto", AT(tick), PROF_TICK_CHOICE_AUTO},
        {"prof.tick=lapic", AT(tick), PROF_TICK_CHOICE_LAPIC},
        {"prof.tick=kernel", AT(tick), PROF_TICK_CHOICE_KERNEL},
        {"prof.depth=127", AT(depth), 127},
    };
    static const struct {
        const char *word;
        size_t at;
        bool value;
    } switches[] = {
        {"prof.start=off", AT(start), false},
        {"prof.start=on", AT(start), true},
        {"prof.tick_drains=off", AT(tick_drains), false},
        {"prof.tick_drains=on", AT(tick_drains), true},
    };

    assert_true(o->tick_drains);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        assert_int_equal(prof_option(numbers[i].word), 0);
        assert_memory_equal((const char *)o + numbers[i].at, &numbers[i].value,
                            sizeof numbers[i].value);
    }
    for (size_t i = 0; i < COUNT(switches); i++) {
        assert_int_equal(prof_option(switches[i].word), 0);
        assert_memory_equal((const char *)o + switches[i].at,
                            &switches[i].value, sizeof switches[i].value);
    }
    assert_int_equal(prof_option("prof.target=a::b"), 0);
    assert_int_equal(prof_option("prof.progress=c"), 0);
    assert_int_equal(prof_option("prof.callers=a::b(int)"), 0);
    assert_string_equal(o->callers, "a::b(int)");
}

TEST(nonsense_changes_nothing)
{
    static const struct {
        const char *word;
        int error;
    } rows[] = {
        {"prof.hz=", PROF_EVALUE},
        {"prof.hz=0", PROF_EVALUE},
        {"prof.hz=-1", PROF_EVALUE},
        {"prof.hz=1k", PROF_EVALUE},
        {"prof.hz= 1", PROF_EVALUE},
        {"prof.hz", PROF_EOPTION},
        {"prof.hz=99999999999999999999", PROF_EVALUE},
        {"prof.hzz=1", PROF_EOPTION},
        {"prof.=1", PROF_EOPTION},
        {"prof", PROF_EOPTION},
        {"", PROF_EOPTION},
        {"=", PROF_EOPTION},
        {"prof.top=0", PROF_EVALUE},
        {"prof.drain=0", PROF_EVALUE},
        {"prof.weight=", PROF_EVALUE},
        {"prof.weight=times", PROF_EVALUE},
        {"prof.form=Classic", PROF_EVALUE},
        {"prof.start=1", PROF_EVALUE},
        {"prof.tick_drains=yes", PROF_EVALUE},
        {"prof.depth=128", PROF_EVALUE},
        {"prof.report=", PROF_EVALUE},
        {"prof.report=tre", PROF_EVALUE},
        {"prof.causal=yes", PROF_EVALUE},
        {"prof.accrue=samples", PROF_EVALUE},
        {"prof.causal_for=", PROF_EVALUE},
        {"prof.causal_for=s", PROF_EVALUE},
        {"prof.causal_for=60m", PROF_EVALUE},
        {"prof.causal_for=60%", PROF_EVALUE},
        {"prof.causal_for=60ss", PROF_EVALUE},
        {"prof.causal_for=86401s", PROF_EVALUE},
        {"prof.causal_until=%", PROF_EVALUE},
        {"prof.causal_until=20%", PROF_EVALUE},
        {"prof.causal_until=2.5%", PROF_EVALUE},
        {"prof.hz=100%", PROF_EVALUE},
        {"prof.tick=hpet", PROF_EVALUE},
        {"prof.target=", PROF_EVALUE},
        {"prof.progress=", PROF_EVALUE},
        {"prof.reports=4294967296", PROF_EVALUE},
    };
    struct prof_options before = *prof_options();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(prof_option(rows[i].word), rows[i].error);
    assert_memory_equal(&before, prof_options(), sizeof before);
}
