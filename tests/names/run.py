#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `parasite demangle --line` with the established demanglers.

    run.py [--full] [--parasite build/host/parasite] [--work build/names]

Names come from the dynamic symbols of installed libraries, from the sources
beside this script, compiled now, and from the lists of expected answers in
the packages binutils-source and librust-rustc-demangle-dev, which are read
where they are installed. Without --full a few thousand names are drawn from
them; that takes seconds. What is not installed is said and left out. The names
are left in WORK/all.names.

References: c++filt -i -r; where it refuses a name, the newest llvm-cxxfilt;
rustfilt; for OCaml, which no tool of Debian reads, the rule by which Linux
perf spells its names, said once more below. Each difference is put into a
class: what the two answers have where they part. All classes are listed with
their count and one example. The exit status is 1 where a goal is missed.
"""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile

import rust_cases

HERE = os.path.dirname(os.path.abspath(__file__))
ENCODING = {"encoding": "utf-8", "errors": "surrogateescape"}
LISTS = "binutils-*/libiberty/testsuite/{demangle,rust-demangle}-expected"


def run(command, lines=None):
    """The lines that a command prints, fed with lines; None if it fails."""
    text = None if lines is None else "".join(n + "\n" for n in lines)
    try:
        done = subprocess.run(
            command,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **ENCODING,
        )
    except OSError:
        return None
    if done.returncode != 0 and lines is not None:
        return None
    return done.stdout.split("\n")[:-1]


def newest(name, versions):
    for version in versions:
        if shutil.which(f"{name}-{version}"):
            return f"{name}-{version}"
    return name if shutil.which(name) else None


def symbols(files):
    names = set()
    for at in range(0, len(files), 64):
        for flags in (["-D"], []):
            command = ["nm", *flags, "--without-symbol-versions"]
            lines = run(command + files[at : at + 64]) or []
            names.update(line.split(" ")[-1] for line in lines if " " in line)
    return names


def libraries(full):
    roots = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/llvm-*/lib",
        "/usr/lib/node*",
        os.path.expanduser("~/.rustup/toolchains/*/lib"),
    ]
    found = {}
    for root in roots:
        for path in glob.glob(root + "/*.so*") + glob.glob(root + "/**/*.so*"):
            if os.path.isfile(path):
                found[os.path.realpath(path)] = True
    for program in ("node",):
        if shutil.which(program):
            found[os.path.realpath(shutil.which(program))] = True
    paths = sorted(found)
    if full:
        return paths
    wanted = ("stdc++", "LLVM", "boost", "icu", "libnode", "Qt", "rustc_driver")
    few = [p for p in paths if any(w in p for w in wanted)]
    return few or paths


def ocaml_libraries():
    """Plug-ins of OCaml: their names are kept, for each other."""
    return sorted(glob.glob("/usr/lib/ocaml/**/*.cmxs", recursive=True))


def ocaml_answer(name):
    """As perf: "__" is a dot, "$xx" a byte, and "caml" goes."""

    def spelt(match):
        return "." if match[0] == "__" else chr(int(match[0][1:], 16))

    return re.sub(r"__|\$[0-9a-fA-F]{2}", spelt, name[4:])


def compiled(work):
    """Names out of the sources beside this script: {label: names}."""
    source = os.path.join(HERE, "sources")
    clang = newest("clang++", range(25, 13, -1)) or "clang++"
    rust = f"rustc -Awarnings --edition=2021 {source}/names.rs"
    mangling = "symbol-mangling-version"
    jobs = {
        "C++20, g++": f"g++ -std=gnu++20 -w -c {source}/modern.cpp",
        "C++20, clang": f"{clang} -std=gnu++20 -w -c {source}/modern.cpp",
        "Boost, g++": f"g++ -std=gnu++17 -w -c {source}/boost.cpp",
        "Rust v0": f"{rust} -C{mangling}=v0",
        "Rust legacy": f"{rust} -Zunstable-options -C{mangling}=legacy",
    }
    names = {}
    for label, command in jobs.items():
        out = os.path.join(work, re.sub(r"\W+", "_", label) + ".o")
        if not os.path.exists(out):
            environment = dict(os.environ, RUSTC_BOOTSTRAP="1")
            try:
                subprocess.run(
                    [*command.split(), "-o", out],
                    env=environment,
                    check=True,
                    stderr=subprocess.DEVNULL,
                )
            except (OSError, subprocess.CalledProcessError):
                print(f"  left out: {label} (does not compile here)")
                continue
        names[label] = symbols([out])
    return names


def groups(lines, width):
    kept = [line for line in lines if not line.startswith("#")]
    at = 0
    while at + 2 < len(kept):
        options = kept[at].split()
        yield options, kept[at + 1], kept[at + 2]
        at += 4 if width and "--no-params" in options else 3


def cases_of(text, is_rust):
    """What a list of binutils asks for and that is asked here."""
    for options, name, answer in groups(text.split("\n"), not is_rust):
        style = [o for o in options if o.startswith("--format=")]
        other = [o for o in options if o.startswith(("--ret", "--is-v3"))]
        # Bare types are no names: c++filt needs -t for them.
        known = name.startswith("_") or name == answer
        if is_rust and style == ["--format=rust"]:
            yield name, answer
        elif not is_rust and not other and known:
            if style in ([], ["--format=gnu-v3"], ["--format=auto"]):
                yield name, answer


def expected_lists():
    """(label, [(name, answer)]) for each list that is installed."""
    wanted = ["demangle-expected", "rust-demangle-expected"]
    for path in glob.glob("/usr/src/binutils/binutils-*.tar.*"):
        with tarfile.open(path) as archive:
            for member in archive:
                base = os.path.basename(member.name)
                if base not in wanted:
                    continue
                wanted.remove(base)
                text = archive.extractfile(member).read().decode(**ENCODING)
                yield base, list(cases_of(text, base[0] == "r"))
    cases = rust_cases.cases()
    if cases:
        yield "rustc-demangle's own tests", cases
    else:
        print("  left out: rustc-demangle's own tests (not installed)")


def unescaped(cases):
    """libiberty escapes all that is not ASCII; rustc-demangle, whose answers
    count, only what cannot be seen. So does rustfilt, which is asked."""
    answers = run(["rustfilt"], [name for name, _ in cases]) or []
    for (name, listed), answer in zip(cases, answers):
        plain = re.sub(r"\\u\{(\w+)\}", lambda m: chr(int(m[1], 16)), listed)
        if listed != answer and plain == answer:
            print(f"  rustfilt says {answer}, not {listed}")
            cases[cases.index((name, listed))] = (name, answer)
    return cases


def difference(ours, theirs, name):
    """The class of a difference, as short text."""
    if ours == name:
        return "not taken"
    if theirs == name:
        return "taken by us alone"
    at = len(os.path.commonprefix([ours, theirs]))
    words = [
        re.sub(r"\w+", "a", text[max(0, at - 1) : at + 8])
        for text in (ours, theirs)
    ]
    return f"{words[0]!r} for {words[1]!r}"


class Report:
    def __init__(self, parasite):
        self.parasite = parasite
        self.missed = []

    def ask(self, names, language="auto"):
        return run(
            [self.parasite, "demangle", "--line", "--format=" + language], names
        )

    def compare(
        self, label, names, answers, goal, language="auto", taken_only=True
    ):
        """Counts over names that the reference takes; misses are kept."""
        ours = self.ask(names, language)
        if ours is None or answers is None or len(ours) != len(answers):
            self.missed.append(f"{label}: no answers to compare")
            return
        classes = collections.OrderedDict()
        taken = equal = 0
        for name, mine, theirs in zip(names, ours, answers):
            if taken_only and theirs == name:
                continue
            taken += 1
            if mine == theirs:
                equal += 1
            else:
                kind = difference(mine, theirs, name)
                classes.setdefault(kind, []).append((name, mine, theirs))
        share = 100.0 * equal / taken if taken else 100.0
        print(
            f"{label}: {len(names)} names, {taken} taken, {equal} equal, "
            f"{share:.4f} %"
        )
        for kind, examples in sorted(
            classes.items(), key=lambda item: -len(item[1])
        ):
            name, mine, theirs = min(examples, key=lambda e: len(e[0]))
            print(
                f"  {len(examples)} times {kind}\n    {name}\n"
                f"      ours   {mine[:300]}\n      theirs {theirs[:300]}"
            )
        if share < goal:
            self.missed.append(f"{label}: {share:.4f} % is below {goal} %")

    def cxx(self, label, names, goal):
        names = sorted(n for n in names if n.startswith("_Z"))
        if not names:
            return
        gnu = run(["c++filt", "-i", "-r"], names)
        self.compare(label, names, gnu, goal)
        llvm = newest("llvm-cxxfilt", range(25, 13, -1))
        refused = [n for n, a in zip(names, gnu or []) if n == a]
        if llvm and refused:
            self.compare(
                f"{label}, refused by c++filt, with {llvm}",
                refused,
                run([llvm], refused),
                95.0,
            )

    def rust(self, label, names, goal):
        pattern = re.compile(r"_R[A-Z]|_ZN.*17h[0-9a-f]{16}E")
        names = sorted(n for n in names if pattern.match(n))
        if names:
            self.compare(label, names, run(["rustfilt"], names), goal)

    def rust_characters(self, step):
        """Every (step)th character as a constant: shown, or escaped."""
        codes = [
            c for c in range(0, 0x110000, step) if not 0xD800 <= c < 0xE000
        ]
        names = ["_RIC1aKc%x_E" % code for code in codes]
        self.compare(
            "Rust's characters",
            names,
            run(["rustfilt"], names),
            100.0,
            taken_only=False,
        )

    def ocaml(self, names):
        """Each name, and as OCaml 5.1.1 and later would have it."""
        names = sorted(n for n in names if re.match("caml[A-Z]", n))
        later = [name.replace("__", ".") for name in names]
        answers = [ocaml_answer(name) for name in names]
        if not any("$" in name for name in names):
            print("  left out: OCaml (no libraries installed)")
            return
        self.compare("OCaml of libraries", names, answers, 100.0)
        self.compare("OCaml, with dots", later, answers, 100.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--parasite", default="build/host/parasite")
    parser.add_argument("--work", default="build/names")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    report = Report(options.parasite)

    found = symbols(libraries(options.full))
    rust = {n for n in found if re.match(r"_R[A-Z]|_ZN.*17h[0-9a-f]{16}E", n)}
    cxx = {n for n in found if n.startswith("_Z")} - rust
    ocaml = {n for n in symbols(ocaml_libraries()) if n.startswith("caml")}
    if not options.full:
        draw = random.Random(20)
        cxx = set(draw.sample(sorted(cxx), min(4000, len(cxx))))
        rust = set(draw.sample(sorted(rust), min(2000, len(rust))))
    report.cxx("C++ of libraries", cxx, 99.98 if options.full else 99.9)
    report.rust("Rust of libraries", rust, 100.0)
    report.rust_characters(1 if options.full else 37)
    report.ocaml(ocaml)
    every = [*cxx, *rust, *ocaml]
    if options.full:
        for label, names in compiled(options.work).items():
            every += names
            if label.startswith("Rust"):
                report.rust(label, names, 100.0)
            else:
                report.cxx(label, names, 99.0)
    for label, cases in expected_lists():
        language = "rust" if label.startswith("rust") else "auto"
        if label == "rust-demangle-expected":
            cases = unescaped(cases)
        names = [name for name, _ in cases]
        answers = [answer for _, answer in cases]
        every += names
        report.compare(label, names, answers, 100.0, language, taken_only=False)
    with open(os.path.join(options.work, "all.names"), "w", **ENCODING) as file:
        file.writelines(name + "\n" for name in sorted(set(every)))
    for line in report.missed:
        print("missed: " + line)
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
