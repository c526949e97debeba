#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# boot.sh SECONDS WIDTH ARGUMENTS...: a machine for both guests, the same one:
# QEMU's standard CPU, one instruction a nanosecond, always the same date,
# nothing attached but a serial line to standard output. Ends with the guest, or
# after SECONDS. With CPUS=4 in the environment there are so many, one after the
# other on one of the host's, and time is the host's.
set -eu

seconds=$1
width=$2
shift 2
cpus=${CPUS:-1}
if [ "$cpus" = 1 ]; then
    set -- -accel tcg -icount shift=0,sleep=off "$@"
else
    set -- -accel tcg,thread=single "$@"
fi
exec timeout -k 5 "$seconds" nice "qemu-system-$width" -nodefaults \
    -no-user-config -rtc base=2024-01-01,clock=vm -smp "$cpus" -m 512 \
    -display none -no-reboot \
    -serial stdio "$@" </dev/null
