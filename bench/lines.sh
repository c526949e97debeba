#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the parts of the bench have in common; to be read with ".". They set
# $results, the file that their figures go to.

# keep WIDTH NAME VALUE [UNIT [LOW HIGH]]: a line of JSON. WIDTH is i386,
# x86_64, or host for what is measured outside of a guest; LOW and HIGH are
# between what it lay, where it is not the same each time.
keep()
{
    set -- "$1" "$2" "$3" "${4:+,\"unit\":\"$4\"}" \
        "${5:+,\"low\":$5,\"high\":${6:-}}"
    printf '{"width":"%s","name":"%s","value":%s%s%s}\n' "$@" \
        >>"${results:?}"
}

# counted FUNCTION COMMAND...: how many instructions COMMAND executes in
# FUNCTION and in what that calls, as valgrind counts them
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
