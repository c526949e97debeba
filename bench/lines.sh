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
