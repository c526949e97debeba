/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics in the protocol buffer format: fields, counters and gauges that were
 * text, and the buckets of native histograms. */

#include "../unit.h"

#include "../../../services/http/loop_native.h"
#include "../../../services/http/metric_proto.h"
#include "../../../services/http/protobuf.h"

#include <kernel/clock.h>
#include <math.h>

static struct http_text out;

uint64_t clock_tsc_hz(void)
{
    return 1000000000u;
}

/* Instead of the statistics': two zeros, three of a second, one of two. */
void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context)
{
    assert_int_equal(number, 7);
    assert_int_equal(measure, PROF_LOOP_DELAY);
    visit(0, 1, 2, context);
    visit(1000000000, 1000000001, 3, context);
    visit(2000000000, 2000000001, 1, context);
}

static void free_out(void)
{
    http_text_free(&out);
}

#define IS(expected)                                                           \
    do {                                                                       \
        assert_int_equal(out.count, sizeof(expected) - 1);                     \
        assert_memory_equal(out.bytes, expected, sizeof(expected) - 1);        \
    } while (0)

FIXTURE(NULL, free_out);

TEST(fields_have_their_wire_types)
{
    struct http_text inner = {0};

    protobuf_uint(&out, 1, 300);
    protobuf_sint(&out, 5, -1);
    protobuf_sint(&out, 5, 1);
    protobuf_double(&out, 2, 1.0);
    protobuf_string(&out, 16, "ab");
    protobuf_uint(&inner, 1, 0);
    protobuf_message(&out, 3, &inner);
    protobuf_uint(&inner, 1, UINT64_MAX);
    protobuf_delimited(&out, &inner);
    IS("\x08\xac\x02"
       "\x28\x01"
       "\x28\x02"
       "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"
       "\x82\x01\x02"
       "ab"
       "\x1a\x02\x08\x00"
       "\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

/* HELP, TYPE and samples; labels with what is escaped; no histogram. */
TEST(text_becomes_messages)
{
    static const char lines[] = "# HELP a what it is\n"
                                "# TYPE a counter\n"
                                "a 3\n"
                                "# HELP h left out\n"
                                "# TYPE h histogram\n"
                                "h_bucket{le=\"+Inf\"} 1\n"
                                "h_count 1\n"
                                "# HELP b c\n"
                                "# TYPE b gauge\n"
                                "b{x=\"1\\\"\\\\\\n\",y=\"\"} 0.5\n";
    struct http_text text = {0};

    http_text_add(&text, lines, sizeof lines - 1);
    metric_proto(&out, &text);
    http_text_free(&text);
    assert_false(out.failed);
    IS("\x1e\x0a\x01"
       "a\x12\x0a"
       "what it is\x18\x00\x22\x0b\x1a\x09"
       "\x09\x00\x00\x00\x00\x00\x00\x08\x40"
       "\x27\x0a\x01"
       "b\x12\x01"
       "c\x18\x01\x22\x1d\x0a\x09\x0a\x01"
       "x\x12\x04"
       "1\"\\\n\x0a\x05\x0a\x01"
       "y\x12\x00\x12\x09\x09\x00\x00\x00\x00\x00\x00\xe0\x3f");
}

/* To within the 16 bits that are looked at. */
TEST(buckets_are_logarithms)
{
    for (unsigned i = 0; i < 100000; ++i) {
        uint64_t cycles = (unit_random() >> (18 + unit_random() % 46)) | 1;
        uint64_t hz = 100000000u + unit_random() % 5000000000u;
        double seconds = (double)cycles / (double)hz;
        int bucket = loop_native_bucket(cycles, hz);

        assert_true(seconds > exp2((bucket - 1) / 8.0) * (1 - 1e-5));
        assert_true(seconds <= exp2(bucket / 8.0) * (1 + 4e-5));
    }
    assert_int_equal(loop_native_bucket(1000, 1000), 0);
    assert_int_equal(loop_native_bucket(1001, 1000), 1);
    assert_int_equal(loop_native_bucket(4000, 1000), 16);
    assert_int_equal(loop_native_bucket(125, 1000), -24);
}

TEST(histograms_have_spans)
{
    struct prof_loop_row row = {.number = 7};

    loop_native(&out, &row, PROF_LOOP_DELAY);
    IS("\x28\x06"                             /* 2^(1/8) */
       "\x31\x11\xea\x2d\x81\x99\x97\x71\x3d" /* 1e-12 */
       "\x38\x02"
       "\x62\x04\x08\x00\x10\x01" /* one, from bucket 0 on */
       "\x62\x04\x08\x0e\x10\x01" /* seven empty, then one */
       "\x68\x06"
       "\x68\x03");
}
