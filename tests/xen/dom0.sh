#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
#
# The first process of dom0: brings Xen's tools up, and does /root/job with the
# functions that are here. What is to be read outside is between lines
# "-- begin NAME" and "-- end NAME" of the console.
export PATH=/bin LD_LIBRARY_PATH=/lib HOME=/root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
mount -t devpts pts /dev/pts

say()
{
    echo "[$(cut -d' ' -f1 /proc/uptime)] $*"
}

# show NAME COMMAND...: what it prints, to be read outside
show()
{
    name=$1
    shift
    echo "-- begin $name"
    "$@" >/root/shown 2>&1
    cat /root/shown
    echo "-- end $name"
}

# start NAME TYPE IMAGE COMMANDLINE [wired]: sets $id. "wired": with the devices
# of a PC that our images want; its console goes to /root/NAME.com1.
start()
{
    cat >"/root/$1.cfg" <<EOF
name = "$1"
type = "$2"
kernel = "/root/$3"
cmdline = "$4"
memory = 32
vcpus = ${cpus:-1}
tsc_mode = "native"
on_poweroff = "preserve"
on_crash = "preserve"
EOF
    say "start $1"
    if [ "${5:-}" = wired ]; then
        LD_PRELOAD=/root/emulate.so xl create -q -p "/root/$1.cfg"
        id=$(xl domid "$1")
        /root/wire "$id"
        /root/com1 "$id" >"/root/$1.com1" 2>/root/com1.err &
        until grep -q ready /root/com1.err; do usleep 50000; done
    else
        xl create -q -p "/root/$1.cfg"
        id=$(xl domid "$1")
    fi
    xl unpause "$1"
    sleep 1
}

# sample NAME LEAST: of the domain $id, which runs /root/NAME.elf, until there
# are LEAST samples; shows NAME.attach and NAME.folded
sample()
{
    : >/root/folded
    until [ "$(awk '{ n += $NF } END { print n + 0 }' /root/folded)" -ge "$2" ]
    do
        show "$1.attach" /root/parasite attach -v -F 400 -d 3 \
            -k "/root/$1.elf" -o "/root/$1.trace" "xen:$id"
        /root/parasite export -q -f folded --weight samples \
            "/root/$1.trace" >>/root/folded || break
    done
    show "$1.folded" cat /root/folded
}

say "dom0"
for module in xen-evtchn xen-privcmd xen-gntdev xen-gntalloc xenfs; do
    insmod /modules/$module.ko || say "insmod $module failed"
done
mount -t xenfs xenfs /proc/xen
xenstored --pid-file /var/run/xenstored.pid
xen-init-dom0
xenconsoled --log=guest --log-dir=/var/log/xen
. /root/job
say "done"
echo o >/proc/sysrq-trigger
sleep 30
