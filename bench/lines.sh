#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions that all parts of the bench share; to be sourced with ".". A part
# sets $results, the file for its figures.

# keep WIDTH NAME VALUE [UNIT [LOW HIGH]]: a line of JSON. WIDTH is i386,
# x86_64, or host for measurements outside a guest; LOW and HIGH are the range
# of values that differ from run to run.
keep()
{
    set -- "$1" "$2" "$3" "${4:+,\"unit\":\"$4\"}" \
        "${5:+,\"low\":$5,\"high\":${6:-}}"
    printf '{"width":"%s","name":"%s","value":%s%s%s}\n' "$@" \
        >>"${results:?}"
}

# counted FUNCTION COMMAND...: instructions of COMMAND in FUNCTION and its
# callees, as counted by valgrind
counted()
{
    function=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect="$function" "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# ratio A B: A as a multiple of B, to four digits
ratio()
{
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'
}

# small_flags WIDTH: how the Makefile compiles the module, but for -Os, -g and
# the include paths
small_flags()
{
    # shellcheck disable=SC2016 # variables of make
    MAKEFLAGS='' make -s --no-print-directory CC=gcc W="$1" --eval='flags: ; \
        echo $(filter-out -O% -g,$(width.$W) $(GUEST)) -mgeneral-regs-only \
        $(stack.$W)' flags
}
