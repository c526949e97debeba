/* SPDX-License-Identifier: Apache-2.0 */

/* Options: what is said is done, what makes no sense changes nothing. */

#include "../unit.h"

#include <prof/prof.h>

TEST(each_option_is_taken)
{
    const struct prof_options *o = prof_options();

    assert_int_equal(prof_option("prof.hz=997"), 0);
    assert_int_equal(o->hz, 997);
    assert_int_equal(prof_option("prof.top=1"), 0);
    assert_int_equal(o->top, 1);
    assert_int_equal(prof_option("prof.width=80"), 0);
    assert_int_equal(o->width, 80);
    assert_int_equal(prof_option("prof.every=0"), 0);
    assert_int_equal(o->every_ms, 0);
    assert_int_equal(prof_option("prof.drain=10"), 0);
    assert_int_equal(o->drain_ms, 10);
    assert_int_equal(prof_option("prof.reports=4294967295"), 0);
    assert_int_equal(o->reports, 4294967295u);
    assert_int_equal(prof_option("prof.weight=count"), 0);
    assert_int_equal(o->weight, PROF_WEIGHT_COUNT);
    assert_int_equal(prof_option("prof.weight=time"), 0);
    assert_int_equal(o->weight, PROF_WEIGHT_TIME);
    assert_int_equal(prof_option("prof.form=classic"), 0);
    assert_int_equal(o->form, PROF_FORM_CLASSIC);
    assert_int_equal(prof_option("prof.form=shares"), 0);
    assert_int_equal(o->form, PROF_FORM_SHARES);
    assert_int_equal(prof_option("prof.report=tree"), 0);
    assert_int_equal(o->report, PROF_REPORT_TREE);
    assert_int_equal(prof_option("prof.report=folded"), 0);
    assert_int_equal(o->report, PROF_REPORT_FOLDED);
    assert_int_equal(prof_option("prof.report=top"), 0);
    assert_int_equal(o->report, PROF_REPORT_TOP);
    assert_int_equal(prof_option("prof.causal=auto"), 0);
    assert_int_equal(prof_options()->causal, PROF_CAUSAL_MODE_AUTO);
    assert_int_equal(prof_option("prof.causal=on"), 0);
    assert_int_equal(prof_options()->causal, PROF_CAUSAL_MODE_ON);
    assert_int_equal(prof_option("prof.accrue=smooth"), 0);
    assert_int_equal(o->accrue, PROF_ACCRUE_SMOOTH);
    assert_int_equal(prof_option("prof.accrue=entry"), 0);
    assert_int_equal(o->accrue, PROF_ACCRUE_ENTRY);
    assert_int_equal(prof_option("prof.accrue=auto"), 0);
    assert_int_equal(o->accrue, PROF_ACCRUE_AUTO);
    assert_int_equal(prof_option("prof.target=a::b"), 0);
    assert_int_equal(prof_option("prof.progress=c"), 0);
    assert_int_equal(prof_option("prof.callers=a::b(int)"), 0);
    assert_string_equal(o->callers, "a::b(int)");
    assert_int_equal(prof_option("prof.depth=127"), 0);
    assert_int_equal(o->depth, 127);
    assert_int_equal(prof_option("prof.start=off"), 0);
    assert_false(o->start);
    assert_int_equal(prof_option("prof.start=on"), 0);
    assert_true(o->start);
    assert_true(o->tick_drains);
    assert_int_equal(prof_option("prof.tick_drains=off"), 0);
    assert_false(o->tick_drains);
    assert_int_equal(prof_option("prof.tick_drains=on"), 0);
    assert_true(o->tick_drains);
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
        {"prof.target=", PROF_EVALUE},
        {"prof.progress=", PROF_EVALUE},
        {"prof.reports=4294967296", PROF_EVALUE},
    };
    struct prof_options before = *prof_options();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(prof_option(rows[i].word), rows[i].error);
    assert_memory_equal(&before, prof_options(), sizeof before);
}
