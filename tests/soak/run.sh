#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: the soak's short form: half a minute of everything, on both
# widths at the same time, in real time. Prints TAP. The seed is always the
# same; SEED=N is another. `make soak` is the long form.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
mkdir -p "$work"
exec python3 tests/soak/soak.py --tap --build "$work/.." --folder "$work" \
    --at-once --kinds toil --minutes 2 --pause 0.4 --seed "${SEED:-7}"
