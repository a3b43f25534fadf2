#!/usr/bin/env python3
"""Compares Vulkan drivers with pumice-bench in one interleaved run and prints a Markdown table.

    bench/compare.py pumice=build/release/icd/pumice_icd.json lavapipe=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
    bench/compare.py two=build/release/icd/pumice_icd.json one=build/release/icd/pumice_icd.json,PUMICE_THREADS=1

Every line is run on driver A, B, C, A, B, C, ... for some rounds, each time in a process of its own, so that whatever
else the machine does hits all of them alike; the table shows medians, and the first driver's ratio to the faster of the
others. With --startup only what a program costs that creates an instance, enumerates and destroys it, beside an empty driver.
"First use" is pipeline creation plus first execution, "device creation" instance and device. No driver has a cache on
disk, but for the lines pipelines_100_*, in which every driver has all that it offers. Times: lower is
better; everything else: higher is better. Exit code 1 when a line failed or gave a wrong result on the first driver.
"""

import argparse
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_BUILD = os.path.join(HERE, "..", "build", "release", "bench")


class Cell:
    """All samples of one line on one driver."""

    def __init__(self):
        self.samples = []
        self.problem = ""

    def median(self):
        return statistics.median(self.samples) if self.samples and not self.problem else None


def environment(driver):
    """driver: MANIFEST[,VARIABLE=VALUE...], or None for programs that need no driver."""
    env = dict(os.environ)
    if driver:
        manifest, *variables = driver.split(",")
        # The older and the newer name; loaders read one of them.
        env["VK_ICD_FILENAMES"] = env["VK_DRIVER_FILES"] = os.path.abspath(manifest)
        env.update(variable.split("=", 1) for variable in variables)
    env["MESA_SHADER_CACHE_DISABLE"] = "true"
    env["PUMICE_CACHE"] = "0"
    env["VK_LOADER_LAYERS_DISABLE"] = "~implicit~"
    return env


def run_line(bench, name, manifest, seconds, timeout):
    """Returns (line dict or None, device creation ms or None, problem); the line's "skipped" says if it did not run."""
    command = [bench, "--json", "--filter", re.escape(name), "--seconds", str(seconds)]
    try:
        done = subprocess.run(command, env=environment(manifest), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, None, f"no result in {timeout:.0f} s"
    try:
        report = json.loads(done.stdout)
        line = report["lines"][0]
    except (ValueError, KeyError, IndexError):
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return None, None, f"exit code {done.returncode} {last}".strip()
    return line, report.get("device_creation_ms"), line["problem"]


def startup_times(build, drivers):
    """Median microseconds of 50 times create + enumerate + destroy for each driver, interleaved; None where it failed.

    The empty driver has the empty name."""
    probe = os.path.join(build, "pumice-startup-probe")
    manifests = {**drivers, "": os.path.join(build, "empty_icd.json")}
    samples = {name: [] for name in manifests}
    for i in range(53):  # the first ones warm the page cache
        for name, manifest in manifests.items():
            done = subprocess.run([probe], env=environment(manifest), capture_output=True, text=True)
            if done.returncode == 0 and i >= 3:
                microseconds, devices = done.stdout.split()
                if devices != "0" or not name:  # only the empty driver may have none
                    samples[name].append(float(microseconds))
    return {name: statistics.median(values) if values else None for name, values in samples.items()}


def print_startup(build, drivers):
    times = startup_times(build, drivers)
    for name, median in times.items():
        print(f"{name or 'empty driver'}: {'failed' if median is None else f'{median / 1e3:.2f} ms'}")
    return 0 if all(median is not None for median in times.values()) else 1


def format_number(value):
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def ratio_to_best_peer(values, better):
    """How many times as good the first value is as the best of the others; None when unknown."""
    mine, peers = values[0], [v for v in values[1:] if v]
    if not mine or not peers:
        return None
    return mine / max(peers) if better == "higher" else min(peers) / mine


def geometric_mean(ratios):
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))


class Table:
    def __init__(self, drivers):
        self.drivers = drivers
        self.rows = []

    def add(self, label, unit, cells_or_values, better):
        """better: "higher", "lower" or None for a line without a ratio. Returns the ratio."""
        values = [c.median() if isinstance(c, Cell) else c for c in cells_or_values]
        texts = []
        for cell, value in zip(cells_or_values, values):
            failed = isinstance(cell, Cell) and cell.problem
            texts.append("failed" if failed else format_number(value))
        ratio = ratio_to_best_peer(values, better) if better else None
        self.rows.append([label, unit, *texts, f"{ratio:.2f}x" if ratio else ""])
        return ratio

    def __str__(self):
        header = ["line", "unit", *self.drivers, "ratio"]
        rows = [header, ["---"] * 2 + ["---:"] * (len(header) - 2), *self.rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown CPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drivers", nargs="+", metavar="NAME=MANIFEST[,VARIABLE=VALUE...]",
                        help="the first is compared with the others; variables of the environment are set for it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="per line, driver and round (default %(default)s)")
    parser.add_argument("--filter", default=".*", help="lines whose whole name matches")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one line in one process")
    parser.add_argument("--build", default=DEFAULT_BUILD, help="directory of the built programs")
    parser.add_argument("--best", action="store_true",
                        help="take each run's best repetition and not its median (for a machine with other load)")
    parser.add_argument("--startup", action="store_true", help="only the time of instance, enumeration and destruction")
    parser.add_argument("--json", metavar="FILE", help="also write every sample to FILE")
    args = parser.parse_args()

    drivers = dict(item.split("=", 1) for item in args.drivers)
    manifests = [driver.split(",")[0] for driver in drivers.values()]
    missing = [manifest for manifest in manifests if not os.path.exists(manifest)]
    if missing:
        parser.error("no such manifest: " + ", ".join(missing))
    if not os.path.exists(os.path.join(args.build, "pumice-bench")):
        parser.error(f"no pumice-bench in {os.path.normpath(args.build)}; ninja -C build/release bench/all builds it")
    names = list(drivers)
    if args.startup:
        sys.exit(print_startup(args.build, drivers))
    bench = os.path.join(args.build, "pumice-bench")
    listing = subprocess.run([bench, "--list", "--filter", args.filter], capture_output=True, text=True, check=True)
    lines = [line.split()[0] for line in listing.stdout.splitlines()]
    gpu_lines = [name for name in lines if not name.startswith("cpu_")]
    cpu_lines = [name for name in lines if name.startswith("cpu_")]

    about = {}  # line name -> its JSON, for unit and direction
    cells = {name: {driver: Cell() for driver in names} for name in gpu_lines}
    first_use = {name: {driver: Cell() for driver in names} for name in gpu_lines}
    creation = {driver: Cell() for driver in names}
    cpu_cells = {name: Cell() for name in cpu_lines}
    dead = set()  # (line, driver) that failed: not tried again
    for round_number in range(args.rounds):
        for name in gpu_lines:
            for driver, manifest in drivers.items():
                if (name, driver) in dead:
                    continue
                line, device_ms, problem = run_line(bench, name, manifest, args.seconds, args.timeout)
                cell = cells[name][driver]
                if problem:
                    cell.problem = problem
                    dead.add((name, driver))
                    print(f"{name} on {driver}: {problem}", file=sys.stderr)
                    continue
                if line["skipped"]:
                    if round_number == 0:
                        print(f"{name} on {driver}: skipped, {line['skipped']}", file=sys.stderr)
                    continue
                about.setdefault(name, line)
                cell.samples.append(line["best" if args.best else "value"])
                creation[driver].samples.append(device_ms)
                if line["first_ms"] is not None:
                    first_use[name][driver].samples.append(line["first_ms"])
        for name in cpu_lines:
            line, _, problem = run_line(bench, name, None, args.seconds, args.timeout)
            cpu_cells[name].problem = problem
            if line:
                about.setdefault(name, line)
                cpu_cells[name].samples.append(line["value"])
        print(f"round {round_number + 1} of {args.rounds} done", file=sys.stderr)

    table = Table(names)
    ratios = []
    for name in gpu_lines:
        line = about.get(name, {"unit": "", "better": "higher"})
        ratio = table.add(name, line["unit"], [cells[name][d] for d in names], line["better"])
        if ratio:
            ratios.append(ratio)
    # Startup costs, apart from the mean above.
    table.add("device creation", "ms", [creation[d] for d in names], "lower")
    totals = []
    counted = [name for name in gpu_lines if any(cell.samples for cell in first_use[name].values())]
    for driver in names:
        firsts = [first_use[name][driver].median() for name in counted]
        complete = None not in firsts and not any(cells[name][driver].problem for name in gpu_lines)
        totals.append(sum(firsts) if firsts and complete else None)
    table.add("first use, all lines", "ms", totals, "lower")
    startup = startup_times(args.build, drivers)
    table.add("instance, enumerate, destroy", "ms", [(startup[d] or 0) / 1e3 or None for d in names], "lower")

    now = datetime.datetime.now(datetime.timezone.utc)
    of_best = " of each round's best repetition" if args.best else ""
    print(f"{now:%Y-%m-%d}, {cpu_model()}, {os.cpu_count()} threads, {args.rounds} rounds interleaved, "
          f"medians{of_best}.\n")
    print(table)
    print()
    if ratios:
        print(f"Geometric mean of the {len(ratios)} ratios above the startup lines: **{geometric_mean(ratios):.2f}x**; "
              f"smallest {min(ratios):.2f}x.")
    if startup[""] is not None:
        print(f"An empty driver's instance, enumerate, destroy: {startup[''] / 1e3:.2f} ms.")
    for name in cpu_lines:
        value = cpu_cells[name].median()
        if value:
            print(f"{name} (plain C++ on all cores): {format_number(value)} {about[name]['unit']}.")
    peaks = [("saxpy", "cpu_saxpy"), ("fma_peak", "cpu_fma_peak"), ("sgemm_tiled", "cpu_fma_peak"),
             ("sgemm_blocked", "cpu_fma_peak"), ("draw_clear", "cpu_fill"), ("draw_fill", "cpu_fill")]
    for name, reference in peaks:
        if name in cells and reference in cpu_cells:
            mine, limit = cells[name][names[0]].median(), cpu_cells[reference].median()
            if mine and limit:
                print(f"{names[0]} {name}: {100 * mine / limit:.0f} % of {reference}.")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            samples = {name: {d: vars(cells[name][d]) for d in names} for name in gpu_lines}
            json.dump({"date": now.isoformat(), "lines": samples, "startup_us": startup}, out, indent=1)
    return 1 if any(driver == names[0] for _, driver in dead) else 0


if __name__ == "__main__":
    sys.exit(main())
