# SPDX-License-Identifier: Apache-2.0
"""Images that are not where they were linked, several at a time, and images of
which nothing says how to find callers."""

from foreign import CALLS, assemble, callers, compiled, link
from harness.suite import check, run

ELSEWHERE, FAR = 0x340000, 0x300000
LINKED = 0x100000
LAYOUT = """SECTIONS {
    . = START;
    .text : { *(.text .text.*) }
    .note.gnu.build-id : { *(.note.gnu.build-id) }
    .data : { *(.data .bss) }
}"""  # loaders look for the header at the beginning: the build-id follows
FRAMES = ["-fno-omit-frame-pointer"]
NO_FRAMES = ["-fomit-frame-pointer"]
CFI = [*NO_FRAMES, "-funwind-tables"]


class Images:
    """plain.c, linked in several ways."""

    def __init__(self, s):
        self.s = s
        self.start = assemble(s)

    def link(self, name, made, *words):
        return link(
            self.s, self.s.work / f"{name}.elf", *words, self.start, made
        )

    def moved(self, name, *words):
        """The image as it was linked, and one of the same code elsewhere."""
        made = compiled(self.s, "moved", FRAMES)
        layout = self.s.work / "moved.ld"
        layout.write_text(LAYOUT)
        return [
            self.link(
                *(f"{name}.{where}", made, "-T", layout, *words),
                f"--defsym=START={address:#x}",
            )
            for where, address in (("linked", LINKED), ("there", ELSEWHERE))
        ]

    def two(self):
        """One image calls functions of another one."""
        made = compiled(self.s, "two", [*CFI, "-ffunction-sections"])
        far = link(
            *(self.s, self.s.work / "far.elf", "--gc-sections", "-e", "many"),
            *(f"-Ttext={FAR:#x}", "-u", "many", made),
        )
        near = self.link(
            *("near", made, "-Ttext=0x100000", "--gc-sections", "-R", far),
            *("--allow-multiple-definition", "--no-fatal-warnings"),
        )
        return near, far


def moved(s, attach, images):
    for how, words in (
        ("build-id", ["--build-id=0x0123456789abcdef"]),
        ("code", ["--build-id=none"]),
    ):
        with s.test(f"an image that was moved is found by {how}"):
            linked, there = images.moved(how, *words)
            share = callers(attach, there, 0.97, knows=[linked])
            s.measured(f"{share:.2%} right in an image moved, {how}")
            distance = ELSEWHERE - LINKED
            check.has(
                attach.said,
                rf"linked\.elf: {distance:#x} bytes above where .* {how}",
            )


def several(s, attach, images):
    with s.test("callers through two images"):
        near, far = images.two()
        load = ("-device", f"loader,file={far}")
        callers(attach, near, 0.995, knows=[near, far], more=load)
        names = {
            n
            for names, _ in attach.parasite.folded(attach.trace)
            for n in names
        }
        check.contains(names, "small")
    with s.test("an image that is not there, linked to the same"):
        other = s.image(s.part, "split")
        callers(attach, near, 0.995, knows=[other, near, far], more=load)
        check.has(attach.said, r"split\.elf: not seen in the guest")


def scanned(s, attach, images):
    made = compiled(s, "bare", NO_FRAMES)
    bare = images.link("bare", made, "-Ttext=0x100000", "--build-id")
    symbols = s.work / "bare.symbols"
    lines = run("nm", bare).out.splitlines()
    # the labels in assembler are no functions
    symbols.write_text("\n".join(n for n in lines if "." not in n) + "\n")
    for what, image in (("an image", bare), ("a list of symbols", symbols)):
        with s.test(f"callers by a scan, with {what}"):
            share = callers(attach, bare, 0.9, knows=[image])
            s.measured(f"{share:.2%} right by a scan, with {what}")
            check.has(attach.said, "callers of [0-9,]+ samples by a scan")
            marked = sum(
                samples
                for names, samples in attach.parasite.folded(attach.trace)
                if "[found by a scan]" in names and set(names) & set(CALLS)
            )
            check.true(marked > 100, marked)
    with s.test("a flame graph of names alone has colours"):
        drawn = s.work / "names.svg"
        run(s.parasite, "flame", "-q", "--svg", "-o", drawn, attach.trace)
        text = drawn.read_text()
        for name in ("work", "small"):
            check.has(text, rf'class="h\d"[^>]*><title>{name}:')
        check.has(text, r'class="g"[^>]*><title>\[found by a scan\]:')


def elsewhere(s, attach):
    images = Images(s)
    moved(s, attach, images)
    several(s, attach, images)
    scanned(s, attach, images)
