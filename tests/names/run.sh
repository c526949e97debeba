#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A few thousand names compared with what the established demanglers print:
# run.sh FOLDER-FOR-BUILDS, the folder of the build being above it. FULL=1
# compares all there are, which takes minutes. Prints TAP.

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
what='names are spelt as the established demanglers spell them'
mkdir -p "$work"
cd "$here/../.." || exit 1
echo 1..1
status=0
python3 "$here/run.py" ${FULL:+--full} --work "$work" \
    --parasite "$work/../host/parasite" >"$work/report" 2>&1 || status=$?
sed 's/^/# /' "$work/report"
if [ "$status" -eq 0 ]; then
    echo "ok 1 - $what"
else
    echo "not ok 1 - $what"
fi
