#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# causal_lines.sh IMAGE: copies what a guest says of causal profiling from
# standard input, without carriage returns. It lists functions of one name by
# their addresses, for it has no lines; here each gets file and line, as far as
# IMAGE has them.

set -eu
image=${1:?usage: causal_lines.sh IMAGE}

tr -d '\r' | while IFS= read -r line; do
    address=$(printf '%s\n' "$line" |
        sed -n 's/^causal:   \(0x[0-9a-f]*\) .*/\1/p')
    where=
    if [ -n "$address" ]; then
        where=$(addr2line -e "$image" "$address" | sed "s|^$PWD/||; /?/d;
            s/ (discriminator.*//")
    fi
    printf '%s%s\n' "$line" "${where:+, $where}"
done
