#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# initramfs.sh OUT WORK MODULE SOURCE: the file system of the Linux guest, as
# an archive: busybox and the files that fetch.sh left in SOURCE, this machine's
# perf with its libraries, the program WORK, the kernel's MODULE, and linux/
# with its three first programs.
set -eu

out=${1:?usage: initramfs.sh OUT WORK MODULE SOURCE}
work=$2
module=$3
source=$4
busybox=$(realpath "$source/busybox")
here=$(dirname "$0")
root=$out.root

# Debian's wrapper in its place is a script
perf=$(command -v perf) || {
    echo 'initramfs.sh: no perf; it is in the package linux-perf' >&2
    exit 1
}
rm -rf "$root"
for folder in bin dev proc sys tmp usr/bin lib64; do
    mkdir -p "$root/$folder"
done
cp "$busybox" "$root/bin/busybox"
for applet in sh mount cat uname sed awk sort head grep taskset poweroff \
    insmod; do
    ln -s busybox "$root/bin/$applet"
done
install -m 755 "$perf" "$root/usr/bin/perf"
ldd "$perf" | grep -o '/[^ ]*' | while read -r library; do
    install -D -m 755 "$library" "$root$library"
done
install -m 755 "$work" "$root/bin/work"
install -m 644 "$module" "$root/irqs_off.ko"
install -m 755 "$here/linux/everywhere" "$root/bin/everywhere"
install -m 755 "$here/linux/init" "$here/linux/counted" "$here/linux/cpus" \
    "$here/linux/common.sh" "$root"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null) >"$out"
rm -rf "$root"
