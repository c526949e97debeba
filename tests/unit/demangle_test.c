/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are not mangled come back as they are, in whatever fits. */

#include <prof/demangle.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const plain[] = {
    "",
    "f",
    "_",
    "_start",
    "main",
    "leaf_a",
    "luaV_execute",
    "memcpy.part.0",
    "a_name_that_is_longer_than_most_names_of_functions_in_a_c_program_are",
};

/* Asks for (name) in exactly (size) bytes of memory. */
static void expect_copy(const char *name, size_t size)
{
    size_t length = strlen(name);
    size_t kept = length < size ? length : size - 1;
    char *out = malloc(size);

    memset(out, '#', size);
    assert_int_equal(prof_demangle(name, out, size), length);
    assert_memory_equal(out, name, kept);
    assert_int_equal(out[kept], '\0');
    free(out);
}

static void a_plain_name_comes_back_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; ++i)
        expect_copy(plain[i], strlen(plain[i]) + 1);
}

static void a_name_is_cut_to_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; ++i) {
        for (size_t size = 1; size < 80; ++size)
            expect_copy(plain[i], size);
    }
}

static void no_room_still_gives_the_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; ++i)
        assert_int_equal(prof_demangle(plain[i], NULL, 0), strlen(plain[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_name_comes_back_as_it_is),
        cmocka_unit_test(a_name_is_cut_to_any_size),
        cmocka_unit_test(no_room_still_gives_the_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
