# SPDX-License-Identifier: Apache-2.0
"""Each spin model in every interleaving; and each deliberately broken variant
of it, whose fault must be found."""


from harness.suite import check, run

# model, words that it is compiled with, whether errors must be found
MODELS = (
    ("ring", "", False),
    ("ring", "BROKEN_A", True),
    ("ring", "BROKEN_B", True),
    ("ring", "BROKEN_LIMIT", True),
    ("frames", "", False),
    ("frames", "BROKEN_A", True),
    ("frames", "BROKEN_B", True),
    ("frames", "BROKEN_ROOM", True),
    ("drain", "", False),
    ("drain", "BROKEN_TURN", True),
    ("drain", "BROKEN_ORDER", True),
    ("drain", "BROKEN_READ", True),
    ("drain", "BROKEN_CLAIM", True),
    ("drain", "BROKEN_ROOM", True),
    ("trace", "", False),
    ("trace", "BROKEN_BUSY", True),
    ("trace", "BROKEN_EARLY", True),
    ("trace", "BROKEN_AGAIN", True),
    ("follow", "", False),
    ("follow", "BROKEN_ASIDE", True),
    ("follow", "BROKEN_TURN", True),
    ("follow", "BROKEN_AGAIN", True),
    ("follow", "BROKEN_MEANWHILE", True),
    ("flight", "", False),
    ("flight", "BROKEN_AGAIN", True),
    ("flight", "BROKEN_NOW", True),
    ("flight", "BROKEN_GAP", True),
    ("flight", "BROKEN_PASSED", True),
    ("flight", "BROKEN_EARLY", True),
    ("drain", "OTHER_CPU", False),
    ("drain", "OTHER_CPU BROKEN_MOVED", True),
    ("drain", "OTHER_CPU STORE_BUFFER", False),
    ("drain", "OTHER_CPU STORE_BUFFER BROKEN_MOVED", True),
    ("drain", "OTHER_CPU STORE_BUFFER BROKEN_STORES", True),
    ("follow", "OTHER_CPU", True),
    ("ends", "", False),
    ("ends", "BROKEN_TAIL", True),
    ("ends", "BROKEN_UNTIL", True),
    ("ends", "BROKEN_ONCE", True),
    ("ends", "BROKEN_ORDER", True),
    ("ends", "BROKEN_REUSE", True),
    ("labels", "", False),
    ("labels", "BROKEN_OVERTAKE", True),
    ("labels", "BROKEN_LATER", True),
    ("labels", "TWO", False),
    ("labels", "TWO BROKEN_LATE", True),
    ("labels", "TWO BROKEN_RETRY", True),
    ("labels", "READER", False),
    ("labels", "READER BROKEN_LATE", True),
    ("labels", "READER BROKEN_STATE", True),
    ("labels", "READER BROKEN_READ", True),
    ("cpus", "", False),
    ("cpus", "BROKEN_FIRST", True),
    ("cpus", "BROKEN_SHARED", True),
    ("cpus", "BROKEN_ENDS", True),
    ("join", "", False),
    ("join", "BROKEN_ACCEPTS", True),
    ("join", "BROKEN_TIME", True),
    ("join", "BROKEN_KEY", True),
    ("join", "BROKEN_LAST", True),
    ("join", "BROKEN_FREE", True),
    ("join", "IGNORED", False),
    ("join", "IGNORED BROKEN_IGNORED", True),
    ("join", "OWN_IDT", False),
    ("join", "OWN_IDT BROKEN_WAIT", True),
    ("lapic", "", False),
    ("lapic", "BROKEN_ASK", True),
    ("lapic", "BROKEN_STOP", True),
    ("lapic", "BROKEN_GIVE", True),
    ("lapic", "BROKEN_LEAVE", True),
    ("lapic", "BROKEN_PENDING", True),
    ("lapic", "SHARED", False),
    ("lapic", "SHARED BROKEN_ASK", True),
    ("lapic", "SHARED BROKEN_STOP", True),
    ("lapic", "SHARED BROKEN_GIVE", True),
    ("lapic", "OWN_IDT", False),
    ("lapic", "OWN_IDT BROKEN_FREE", True),
    ("lapic", "OWN_IDT BROKEN_WORD", True),
    ("lapic", "OWN_IDT BROKEN_LEFT", True),
    ("lapic", "OWN_IDT BROKEN_TABLE", True),
    ("lapic", "OWN_IDT SHARED", False),
    ("mailbox", "", False),
    ("mailbox", "BROKEN_LOOK", True),
    ("mailbox", "BROKEN_ASK", True),
    ("handover", "", False),
    ("handover", "BROKEN_CLAIM", True),
    ("handover", "BROKEN_TAKE", True),
    ("handover", "BROKEN_EARLY", True),
    ("handover", "BROKEN_RESET", True),
    ("handover", "BROKEN_SENT", True),
    ("handover", "BROKEN_VOID", True),
    ("handover", "BROKEN_TWICE", True),
    ("handover", "BROKEN_ORDER", True),
    ("handover", "BROKEN_BEGIN", True),
    ("handover", "BROKEN_KICK", True),
)

# Faults that lie behind all states that are searched first: 5 GB of them, or
# ten seconds. With the processes in the opposite order they are among the first
# that are met.
REVERSED = (
    ("follow", "OTHER_CPU"),
    ("labels", "READER BROKEN_LATE"),
    ("labels", "READER BROKEN_READ"),
)

# Steps down, and the table of states, 2^N entries, that it begins with. Most
# faults are found in the first room, which takes no time to be cleared. What
# has no fault is searched in the other one, to the end.
FLAT = ("-m10000", "-w20")
DEEP = ("-m1000000", "-w22")


def errors(s, model, words, broken):
    """How many spin finds. Where there is none the search was exhaustive."""
    folder = s.work / (model + words.replace(" ", ""))
    folder.mkdir(parents=True, exist_ok=True)
    source = s.build.parent / "tests" / "model" / f"{model}.pml"
    defines = [f"-D{word}" for word in words.split()]
    run("spin", *defines, "-a", source.resolve(), cwd=folder)
    compiled = ["-O0", "-DSAFETY", "-DNOFAIR"]
    if (model, words) in REVERSED:
        compiled.append("-DREVERSE")
    # in half of the time of gcc, which is most of it for most of them
    run("clang-14", "-w", *compiled, "-o", "pan", "pan.c", cwd=folder)
    for room in (FLAT, DEEP) if broken else (DEEP,):
        said = run("./pan", *room, cwd=folder).text
        found = int(check.has(said, r"errors: (\d+)").group(1))
        if found:
            return found
    check.lacks(said, "search depth too small|Search not completed")
    return 0


def suite(s):
    for model, words, broken in MODELS:
        what = model + (f" with {words}" if words else "")
        if broken:
            with s.test(f"{what}: the fault is found"):
                check.true(errors(s, model, words, broken) > 0, "errors")
        else:
            with s.test(
                f"{what}: nothing is lost, torn or counted twice in any "
                "interleaving"
            ):
                check.same(errors(s, model, words, broken), 0)
