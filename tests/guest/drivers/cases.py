# SPDX-License-Identifier: Apache-2.0
"""Guest cases: block and network devices."""

from harness.cases import case


def null_disk(node, more=""):
    """64 MiB of zeroes."""
    return (
        f"-blockdev driver=null-co,node-name={node},size=67108864,"
        f"read-zeroes=on{more}"
    )


def blk(options=""):
    return " -device virtio-blk-pci,drive=d" + (options and f",{options}")


def net(options):
    return f"-netdev user,id=n -device virtio-net-pci,netdev=n,{options}"


DISK = null_disk("d")
SLOW_DISK = null_disk("d", ",latency-ns=1000000")
# the tick bounds how far the instruction counter's clock leaps in a halt
QUIET = "prof.start=off prof.every=0 alarm=tick"


def of_image(image):
    """Cases of one image, with what it is to find instead of a device that
    works."""

    def one(name, want=None, **more):
        append = QUIET + (f" want={want}" if want else "")
        return case(
            name, image=f"test/{image}", append=append, icount=0, **more
        )

    return one


disk = of_image("blk_reads_and_writes")
frames = of_image("net_device_frames_pass")

CASES = [
    disk(
        "blk_errors_are_reported",
        want="errors",
        qemu=null_disk("n") + " -blockdev driver=blkdebug,node-name=d,image=n,"
        "inject-error.0.event=none,inject-error.0.iotype=read,"
        "inject-error.0.sector=2048" + blk(),
    ),
    disk(
        "blk_large_queue_is_made_small",
        want="works",
        qemu=SLOW_DISK + blk("disable-legacy=on,queue-size=1024"),
    ),
    disk(
        "blk_legacy_large_queue_is_refused",
        want="start-2",
        qemu=DISK + blk("disable-modern=on,queue-size=512"),
    ),
    disk(
        "blk_legacy_reads_and_writes",
        want="works",
        qemu=SLOW_DISK + blk("disable-modern=on"),
    ),
    disk("blk_missing_is_reported", want="start-1"),
    disk(
        "blk_read_only_is_reported",
        want="read-only",
        qemu=null_disk("d", ",read-only=on") + blk(),
    ),
    disk(
        "blk_reads_and_writes",
        want="works",
        qemu=SLOW_DISK + blk("disable-legacy=on"),
    ),
    case(
        "http_options_are_named",
        image="http",
        append=(
            f"{QUIET} http.token= http.token={65 * 't'} http.port=0 "
            "http.port=65536 http.head=0 http.head=3601 http.idle=x "
            f"http.token={64 * 't'} http.port=65535 http.head=1 http.idle=3600"
        ),
        exits=1,
        shows=[
            '^options: "http.token=" ignored',
            '^options: "http.token=t{65}" ignored',
            '^options: "http.port=0" ignored',
            '^options: "http.port=65536" ignored',
            '^options: "http.head=0" ignored',
            '^options: "http.head=3601" ignored',
            '^options: "http.idle=x" ignored',
            "^net: no virtio network device$",
        ],
        hides=['=t{64}"', "port=65535", "head=1", "idle=3600", "^panic"],
    ),
    case(
        "irc_options_are_named",
        image="irc",
        append=(
            f"{QUIET} irc.oper= irc.oper={65 * 'o'} irc.port=65536 irc.name= "
            f"irc.oper={64 * 'o'} irc.port=65535 irc.name=a.b"
        ),
        exits=1,
        shows=[
            '^options: "irc.oper=" ignored',
            '^options: "irc.oper=o{65}" ignored',
            '^options: "irc.port=65536" ignored',
            '^options: "irc.name=" ignored',
            "^net: no virtio network device$",
        ],
        hides=['=o{64}"', "port=65535", "name=a.b", "^panic"],
    ),
    frames("net_device_frames_pass", qemu=net("disable-legacy=on")),
    frames(
        "net_device_large_queue_is_made_small",
        qemu=net("disable-legacy=on,rx_queue_size=1024"),
    ),
    frames("net_device_legacy_frames_pass", qemu=net("disable-modern=on")),
    frames(
        "net_device_legacy_large_queue_is_refused",
        want="start-2",
        qemu=net("disable-modern=on,rx_queue_size=512"),
    ),
    frames("net_device_missing_is_reported", want="start-1"),
    frames(
        "net_device_old_layout_passes",
        qemu=net("disable-modern=on,any_layout=off"),
    ),
    case(
        "net_options_are_named",
        image="test/net_peer",
        append=(
            QUIET + " net.ip=10.0.2/24 "
            "net.ip=10.0.2.256/24 net.ip=10.0.2.15/33 "
            "net.ip=10.0.2.15/0 net.ip=10.0.2.15 "
            "net.ip=10.0.2.15/24,10.0.3.2 net.ip=10.0.2.15/24x "
            "net.ip=10.0.2.15/24,10.0.2.2 net.ip=dhcp net.kick=never "
            "net.kick=each net.mtu=9000 net.per_address=0 "
            "net.per_address=2049 net.per_address=9x net.per_address=2048 "
            "net.counters=some net.counters=all"
        ),
        exits=1,
        shows=[
            '^options: "net.ip=10.0.2/24" ignored: unknown network '
            "option, or image without a network$",
            '^options: "net.ip=10.0.2.256/24" ignored',
            '^options: "net.ip=10.0.2.15/33" ignored',
            '^options: "net.ip=10.0.2.15/0" ignored',
            '^options: "net.ip=10.0.2.15" ignored',
            '^options: "net.ip=10.0.2.15/24,10.0.3.2" ignored',
            '^options: "net.ip=10.0.2.15/24x" ignored',
            '^options: "net.kick=never" ignored',
            '^options: "net.mtu=9000" ignored',
            '^options: "net.per_address=0" ignored',
            '^options: "net.per_address=2049" ignored',
            '^options: "net.per_address=9x" ignored',
            '^options: "net.counters=some" ignored',
            "^net: no virtio network device$",
        ],
        hides=[
            'options: "net.ip=10.0.2.15/24,10.0.2.2"',
            'options: "net.ip=dhcp"',
            'options: "net.kick=each"',
            'options: "net.per_address=2048"',
            'options: "net.counters=all"',
        ],
    ),
]
