#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What both first programs of the Linux guest begin with; to be sourced with
# ".". The kernel's command line gives, as variables, units and hz.

: "${units:?}" "${hz:?}"
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
cd /tmp || exit

# run NAME COMMAND...: its output is between "run NAME" and "end STATUS"
run()
{
    echo "run $1"
    shift
    "$@"
    echo "end $?"
}

record()
{
    perf record -q -F "$hz" "$@" 2>&1
}

# without what perf does for build-ids when the work has ended
plain()
{
    record -N -B "$@"
}
