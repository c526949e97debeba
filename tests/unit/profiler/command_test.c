/* SPDX-License-Identifier: Apache-2.0 */

/* The grammar of commands, and lines put together from any bytes. */

#include "../unit.h"

#include "control/command.h"

TEST(each_command_is_understood)
{
    static const struct {
        const char *line;
        enum prof_command_kind kind;
        uint32_t value;
    } rows[] = {
        {"start", PROF_COMMAND_START, 0},
        {"  stop\t", PROF_COMMAND_STOP, 0},
        {"rate 1", PROF_COMMAND_RATE, 1},
        {"rate  10000 ", PROF_COMMAND_RATE, 10000},
        {"rate 1000000000", PROF_COMMAND_RATE, 1000000000},
        {"depth 0", PROF_COMMAND_DEPTH, 0},
        {"depth\t127", PROF_COMMAND_DEPTH, 127},
        {"stacks on", PROF_COMMAND_STACKS, 1},
        {"trace on", PROF_COMMAND_TRACE, 1},
        {"trace  off", PROF_COMMAND_TRACE, 0},
        {"trace dump ", PROF_COMMAND_TRACE, PROF_COMMAND_DUMP},
        {"stacks off ", PROF_COMMAND_STACKS, 0},
        {"causal start", PROF_COMMAND_CAUSAL, PROF_COMMAND_CAUSAL_START},
        {"causal target f", PROF_COMMAND_TARGET, 0},
        {" causal target  a::b(int, char)", PROF_COMMAND_TARGET, 0},
        {"reset", PROF_COMMAND_RESET, 0},
        {"hello", PROF_COMMAND_HELLO, 0},
        {"report", PROF_COMMAND_REPORT, 0},
        {"", PROF_COMMAND_NONE, 0},
        {" \t ", PROF_COMMAND_NONE, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct prof_command command = prof_command(rows[i].line);

        assert_int_equal(command.kind, rows[i].kind);
        assert_int_equal(command.value, rows[i].value);
        assert_null(command.error);
    }
}

TEST(nonsense_is_bad_and_says_why)
{
    static const char *const lines[] = {
        "go",
        "starts",
        "start now",
        "rate",
        "rate 0",
        "rate -1",
        "rate 1e3",
        "rate 1 2",
        "rate 1000000001",
        "depth 128",
        "depth",
        "depth x",
        "stacks",
        "stacks maybe",
        "trace",
        "trace dumps",
        "causal",
        "causal target",
        "causal target ",
        "causal targets f",
        "stacks onn",
        "stacks on off",
        "Reset",
        "report\x01",
        "?",
        "rate 99999999999999999999999999999",
        "repor",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct prof_command command = prof_command(lines[i]);

        assert_int_equal(command.kind, PROF_COMMAND_BAD);
        assert_non_null(command.error);
    }
}

TEST(a_target_is_the_rest_of_the_line)
{
    assert_string_equal(prof_command("causal target main.c:4@1a+2").name,
                        "main.c:4@1a+2");
    assert_string_equal(prof_command(" causal target\t f(int, char)").name,
                        "f(int, char)");
    assert_null(prof_command("causal start").name);
}

static unsigned feed(struct prof_command_line *line, const char *bytes,
                     size_t count)
{
    unsigned complete = 0;

    for (size_t i = 0; i < count; i++)
        complete += prof_command_add(line, (uint8_t)bytes[i]);
    return complete;
}

TEST(lines_end_and_begin_anew)
{
    struct prof_command_line line = {0};

    assert_int_equal(feed(&line, "rate 5", 6), 0);
    assert_int_equal(feed(&line, "0\r", 2), 1);
    assert_string_equal(line.text, "rate 50");
    assert_int_equal(feed(&line, "\n", 1), 1);
    assert_string_equal(line.text, "");
    assert_int_equal(feed(&line, "a\0b\xff\x1b[2J\n", 9), 1);
    assert_string_equal(line.text, "a?b??[2J");
}

TEST(a_line_without_end_costs_nothing)
{
    struct prof_command_line line = {0};

    for (unsigned i = 0; i < 100000; i++)
        assert_false(prof_command_add(&line, 'x'));
    assert_true(prof_command_add(&line, '\n'));
    assert_true(line.too_long);
    assert_int_equal(strlen(line.text), PROF_COMMAND_MAX);
    assert_int_equal(feed(&line, "stop\n", 5), 1);
    assert_false(line.too_long);
    assert_string_equal(line.text, "stop");
}
