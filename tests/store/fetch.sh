#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fetch.sh OUT COMMAND...: runs COMMAND... OUT. If that fails, the last line
# that it printed is in OUT/missing, and this is no error.
set -eu

out=$1
shift
mkdir -p "$out"
if "$@" "$out" >"$out/log" 2>&1; then
    rm -f "$out/missing"
else
    tail -n 1 "$out/log" >"$out/missing"
    echo "  SKIP    tests with $out: $(cat "$out/missing")"
fi
