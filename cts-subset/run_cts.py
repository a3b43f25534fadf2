#!/usr/bin/env python3
"""Runs a list of Khronos Vulkan CTS cases with a deqp-vk that you have built, on one driver, and sorts the results.

    cts-subset/run_cts.py --deqp ~/cts/deqp-vk --manifest build/release/icd/pumice_icd.json \
        --list cts-subset/lists/first_light.txt --out /tmp/cts

A crash or a hang costs one case: the rest is run in a new process. OUT gets one file per outcome (pass.txt, fail.txt,
crash.txt, timeout.txt, notsupported.txt, ...) with a case name a line, followed by deqp-vk's message where it has one;
they are written every half minute, so that a run that is stopped leaves what it has.
Exit code 0 when nothing failed, crashed or hung apart from what --expected names.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

BEGIN = re.compile(r"^Test case '(.+)'\.\.")
RESULT = re.compile(r"^  (Pass|Fail|NotSupported|QualityWarning|CompatibilityWarning|InternalError|ResourceError|"
                    r"Waiver|DeviceLost|Crash|Timeout|Pending)\b ?(.*)$")
BAD = {"fail", "crash", "timeout", "internalerror", "resourceerror", "devicelost"}


class Results:
    """Outcome and message by case name; shared by the workers."""

    def __init__(self, total, out):
        self.lock = threading.Lock()
        self.by_case = {}
        self.total = total
        self.out = out
        self.next_note = time.monotonic() + 30

    def add(self, case, outcome, message=""):
        with self.lock:
            self.by_case[case] = (outcome.lower(), message.strip())
            if time.monotonic() > self.next_note:
                self.next_note = time.monotonic() + 30
                print(f"{len(self.by_case)} of {self.total}: {self.counts()}", file=sys.stderr, flush=True)
                write_results(self.out, self)

    def counts(self):
        counted = collections.Counter(outcome for outcome, _ in self.by_case.values())
        return ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))


def environment(manifest):
    env = dict(os.environ)
    env["VK_ICD_FILENAMES"] = env["VK_DRIVER_FILES"] = os.path.abspath(manifest)
    env.setdefault("PUMICE_CACHE", "0")  # every case compiles
    return env


def all_cases(deqp, manifest, roots):
    """Names of all cases below the given groups, in deqp-vk's order."""
    cases = []
    for root in roots:
        command = [deqp, "--deqp-runmode=stdout-caselist", f"--deqp-case={root}"]
        done = subprocess.run(command, cwd=os.path.dirname(deqp), env=environment(manifest), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        cases += [line[6:].strip() for line in done.stdout.splitlines() if line.startswith("TEST: ")]
    return cases


SAMPLE = re.compile(r"sample (\d+) seed (\d+) (\S+)")


def read_list(path):
    """A list file as the patterns (wanted, pattern) and the samples (number of cases, seed, pattern), in order."""
    patterns, samples = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            text = line.split("#")[0].strip()
            if sample := SAMPLE.fullmatch(text):
                samples.append((int(sample.group(1)), int(sample.group(2)), sample.group(3)))
            elif text:
                wanted = not text.startswith("-")
                patterns.append((wanted, text.lstrip("-")))
    return patterns, samples


def select(cases, patterns):
    compiled = [(wanted, re.compile(fnmatch.translate(pattern))) for wanted, pattern in patterns]
    chosen = []
    for case in cases:
        take = False
        for wanted, expression in compiled:
            if expression.match(case):
                take = wanted
        if take:
            chosen.append(case)
    return chosen


def thin(cases, samples):
    """Keeps of each sample's cases as many as it says, evenly spaced; the seed is where in the first interval to begin."""
    for number, seed, pattern in samples:
        expression = re.compile(fnmatch.translate(pattern))
        matching = [case for case in cases if expression.match(case)]
        if len(matching) <= number:
            continue
        step = len(matching) / number
        start = random.Random(seed).random() * step
        kept = {matching[int(start + n * step)] for n in range(number)}
        cases = [case for case in cases if case in kept or not expression.match(case)]
    return cases


def run_once(deqp, extra, env, cases, timeout, results):
    """Runs cases in one process until it ends, dies or hangs. Returns the cases that are left."""
    left = collections.OrderedDict.fromkeys(cases)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as case_file:
        case_file.write("\n".join(cases) + "\n")
        case_file.flush()
        command = [deqp, f"--deqp-caselist-file={case_file.name}", "--deqp-log-filename=/dev/null",
                   "--deqp-log-images=disable", "--deqp-log-shader-sources=disable", "--deqp-shadercache=disable",
                   "--deqp-log-flush=disable", *extra]
        process = subprocess.Popen(command, cwd=os.path.dirname(deqp), env=env, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # A reader thread, because a hung program must not hang this one.
        lines = queue.Queue()

        def read():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        current, tail, hung = None, "", False
        while True:
            try:
                line = lines.get(timeout=timeout)
            except queue.Empty:
                hung = True
                process.kill()
                break
            if line is None:
                break
            if begin := BEGIN.match(line):
                current = begin.group(1)
            elif (result := RESULT.match(line)) and current:
                results.add(current, result.group(1), result.group(2).strip("()"))
                left.pop(current, None)
                current = None
            elif line.strip():
                tail = line.strip()
        code = process.wait()
    if current is None and left and (hung or code != 0):
        current = next(iter(left))  # died before it said what it was doing
    if current is not None:
        results.add(current, "timeout" if hung else "crash", f"no output for {timeout:.0f} s" if hung else
                    f"exit code {code}: {tail}")
        left.pop(current, None)
    elif left and len(left) == len(cases):
        # It ended well and ran nothing: deqp-vk does not know these names.
        for case in left:
            results.add(case, "internalerror", "deqp-vk ran no such case")
        left.clear()
    return list(left)


def run_chunk(deqp, extra, env, cases, timeout, results):
    while cases:
        cases = run_once(deqp, extra, env, cases, timeout, results)


def write_results(out, results):
    os.makedirs(out, exist_ok=True)
    by_outcome = collections.defaultdict(list)
    for case, (outcome, message) in sorted(results.by_case.items()):
        by_outcome[outcome].append(f"{case}\t{message}" if message else case)
    for name in os.listdir(out):
        if name.endswith(".txt"):
            os.remove(os.path.join(out, name))
    for outcome, lines in by_outcome.items():
        with open(os.path.join(out, f"{outcome}.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def read_expected(path):
    """Names of cases, and patterns of them."""
    with open(path, encoding="utf-8") as lines:
        return {line.split("#")[0].strip() for line in lines} - {""}


def unlisted(bad, expected):
    listed = [re.compile(fnmatch.translate(pattern)) for pattern in expected if "*" in pattern]
    return sorted(case for case in bad if case not in expected and not any(name.match(case) for name in listed))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deqp", required=True, help="the deqp-vk program")
    parser.add_argument("--manifest", required=True, help="the driver's JSON manifest")
    parser.add_argument("--list", required=True, help="file of patterns (see lists/)")
    parser.add_argument("--cases", help="file of all case names, to save asking deqp-vk; written if it is not there")
    parser.add_argument("--only", default="*", help="run only cases that match this pattern too")
    parser.add_argument("--every", type=int, default=1, help="run only each n-th case, for a quick look")
    parser.add_argument("--out", required=True, help="directory for the result files (its *.txt are replaced)")
    parser.add_argument("--expected", default=os.path.join(here, "expected_failures.txt"), help="known failures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--chunk", type=int, default=400, help="cases in one process")
    parser.add_argument("--timeout", type=float, default=60, help="seconds without output that mean a hang")
    parser.add_argument("--graphics", action="store_true",
                        help="ask for a queue that can draw (without it deqp-vk is told that compute is all there is)")
    args = parser.parse_args()

    extra = [] if args.graphics else ["--deqp-compute-only=enable"]
    deqp = os.path.abspath(args.deqp)
    patterns, samples = read_list(args.list)
    if args.cases and os.path.exists(args.cases):
        with open(args.cases, encoding="utf-8") as lines:
            cases = lines.read().split()
    else:
        roots = sorted({".".join(pattern.split(".")[:2]) + ".*" for wanted, pattern in patterns if wanted})
        cases = all_cases(deqp, args.manifest, roots)
        if args.cases:
            with open(args.cases, "w", encoding="utf-8") as file:
                file.write("\n".join(cases) + "\n")
    only = re.compile(fnmatch.translate(args.only))
    chosen = [case for case in thin(select(cases, patterns), samples) if only.match(case)][:: args.every]
    if not chosen:
        sys.exit("run_cts: no case matches")

    results = Results(len(chosen), args.out)
    env = environment(args.manifest)
    chunks = [chosen[i : i + args.chunk] for i in range(0, len(chosen), args.chunk)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in [pool.submit(run_chunk, deqp, extra, env, chunk, args.timeout, results) for chunk in chunks]:
            done.result()
    write_results(args.out, results)

    expected = read_expected(args.expected)
    bad = [case for case, (outcome, _) in results.by_case.items() if outcome in BAD]
    unexpected = unlisted(bad, expected)
    print(f"{len(results.by_case)} cases: {results.counts()}")
    for case in unexpected[:20]:
        outcome, message = results.by_case[case]
        print(f"{outcome}: {case}: {message[:160]}")
    if len(unexpected) > 20:
        print(f"... and {len(unexpected) - 20} more, see {args.out}")
    repaired = sorted(case for case in expected if results.by_case.get(case, ("",))[0] == "pass")
    for case in repaired:
        print(f"passes, but is listed in {args.expected}: {case}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
