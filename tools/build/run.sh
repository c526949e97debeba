#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh IMAGE: boots IMAGE in QEMU, its serial line on stdin and stdout, and
# exits with the guest's own code. The environment says how:
#
#   ARCH      i386 or x86_64
#   LOADER    kernel (QEMU's -kernel) or grub (from an ISO made for the purpose)
#   MEM       MiB of memory
#   APPEND    command line
#   INITRD    file to be given as boot module; several with commas between
#             them, as QEMU has it (for GRUB and for Multiboot, not for PVH)
#   ACCEL     tcg or kvm; auto takes kvm where PROBE, an image, boots with it
#   LIMIT     seconds after which the guest is ended with code 124, 0 = never
#   GDB       port to wait for a debugger at, before the first instruction
#   QEMU_ARGS more arguments for QEMU
#   QUIET     not empty: nothing is said that the guest does not say
set -eu

image=$1
arch=${ARCH:-x86_64}
loader=${LOADER:-kernel}
accel=${ACCEL:-tcg}
limit=${LIMIT:-0}

RESET_CODE=125 # the guest was reset or switched off: a triple fault, mostly
QEMU_FAILED=126

say()
{
    [ -n "${QUIET:-}" ] || echo "$*"
}

# machine SECONDS ARGUMENTS...: 0 seconds = for as long as it takes
machine()
{
    seconds=$1
    shift
    timeout --foreground "$seconds" "qemu-system-$arch" -display none \
        -no-reboot -monitor none -nic none \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 "$@"
}

# Whether a guest comes up with KVM, asked once per boot of this machine.
probe()
{
    known=$(dirname "$PROBE")/accelerator
    boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown)
    if [ "$(sed -n 1p "$known" 2>/dev/null)" != "$boot" ]; then
        found='tcg TCG (KVM: guest did not come up)'
        status=0
        if [ ! -w /dev/kvm ]; then
            found='tcg TCG (KVM: no access to /dev/kvm)'
        else
            machine 10 -accel kvm -m 64 -serial null -kernel "$PROBE" \
                </dev/null >/dev/null 2>&1 || status=$?
            [ "$status" -ne 1 ] || found='kvm KVM'
        fi
        printf '%s\n%s\n' "$boot" "$found" >"$known"
    fi
    accel=$(sed -n '2s/ .*//p' "$known")
    say "accelerator: $(sed -n '2s/^[a-z]* //p' "$known")"
}

[ "$accel" != auto ] || probe

set -- -accel "$accel" -m "${MEM:-128}"
if [ "$loader" = grub ]; then
    iso=${image%.elf}.iso
    "$(dirname "$0")/iso.sh" "$arch" "$iso" "$image" "${APPEND:-}" "${INITRD:-}"
    set -- "$@" -cdrom "$iso" -boot d
else
    set -- "$@" -kernel "$image" -append "${APPEND:-}"
    [ -z "${INITRD:-}" ] || set -- "$@" -initrd "$INITRD"
fi
if [ -n "${GDB:-}" ]; then
    set -- "$@" -S -gdb "tcp::$GDB"
    say "waiting for: gdb $image -ex 'target remote :$GDB'"
fi
# shellcheck disable=SC2086 # a list of words
set -- "$@" ${QEMU_ARGS:-}

# QEMU's own failures exit with 1, and so does a guest's code 0: only what
# QEMU says can tell them apart
words=$(mktemp)
trap 'rm -f "$words"' EXIT
status=0
machine "$limit" -serial stdio "$@" 2>"$words" || status=$?
cat "$words" >&2
if grep -q -e 'terminating on signal 2' -e 'via GDBstub' "$words"; then
    exit 130
elif grep '^qemu' "$words" |
    grep -qv -e ' warning: ' -e ' terminating on '; then
    exit "$QEMU_FAILED"
fi

# isa-debug-exit turns the guest's code into 2 * code + 1
if [ "$status" -eq 124 ] && [ "$limit" -gt 0 ]; then
    say "run.sh: no end after $limit s" >&2
    exit 124
elif [ "$status" -eq 0 ]; then
    say "run.sh: the guest was reset or switched off" >&2
    exit "$RESET_CODE"
elif [ $((status % 2)) -eq 0 ]; then
    say "run.sh: QEMU failed with status $status" >&2
    exit "$QEMU_FAILED"
fi
exit $(((status - 1) / 2))
