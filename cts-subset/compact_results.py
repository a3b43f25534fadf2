#!/usr/bin/env python3
"""Writes the outcome of every case of a run of run_cts.py in few lines, and reads such a file back.

    cts-subset/compact_results.py write /tmp/cts --group dEQP-VK.memory --to cts-subset/results/memory.txt
    cts-subset/compact_results.py diff cts-subset/results/memory.txt /tmp/cts --group dEQP-VK.memory

A line is "OUTCOME PATTERN", a later line wins; PATTERN is a case name, or ends in ".*" and means all cases below, or is
"*WORD*" and means all cases with that word in their name. The first lines count the outcomes. `diff` names the cases whose
outcome is another in the run than in the file.
"""

import argparse
import collections
import itertools
import os
import re
import sys


def read_run(directory, group):
    outcomes = {}
    for name in sorted(os.listdir(directory)):
        if not name.endswith(".txt"):
            continue
        with open(os.path.join(directory, name), encoding="utf-8") as lines:
            for line in lines:
                case = line.split("\t")[0].strip()
                if case == group or case.startswith(group + "."):
                    outcomes[case] = name[: -len(".txt")]
    return outcomes


class Node:
    """A group of cases; costs are the fewest lines that describe it when `outcome` is said further up."""

    def __init__(self, name):
        self.name = name
        self.children = {}
        self.outcome = None
        self.cost = {}
        self.choice = {}

    def weigh(self, outcomes):
        if self.outcome is not None:
            self.cost = {outcome: int(outcome != self.outcome) for outcome in outcomes}
            return
        for child in self.children.values():
            child.weigh(outcomes)
        below = {outcome: sum(child.cost[outcome] for child in self.children.values()) for outcome in outcomes}
        best = min(outcomes, key=lambda outcome: below[outcome])
        for outcome in outcomes:
            keep = below[outcome] <= below[best] + 1
            self.choice[outcome] = outcome if keep else best
            self.cost[outcome] = below[outcome] if keep else below[best] + 1

    def lines(self, said):
        if self.outcome is not None:
            if self.outcome != said:
                yield f"{self.outcome} {self.name}"
            return
        chosen = self.choice[said] if said else min(self.cost, key=self.cost.get)
        if chosen != said:
            yield f"{chosen} {self.name}.*"
        for child in self.children.values():
            yield from child.lines(chosen)


def tree_lines(outcomes, group):
    if not outcomes:
        return []
    root = Node(group)
    for case in sorted(outcomes):
        node = root
        parts = case[len(group) + 1 :].split(".")
        for at, part in enumerate(parts):
            # A leaf and a group may have the same name; the leaf's key cannot be a part of a name.
            key = part if at + 1 < len(parts) else part + "."
            node = node.children.setdefault(key, Node(f"{node.name}.{part}"))
        node.outcome = outcomes[case]
    root.weigh(sorted(set(outcomes.values())))
    return list(root.lines(None))


def words_of(case):
    """Runs of up to four words of a name."""
    found = set()
    for part in case.split("."):
        words = part.split("_")
        for first in range(len(words)):
            for last in range(first, min(first + 4, len(words))):
                found.add("_".join(words[first : last + 1]))
    return found


def telling_words(outcomes, group):
    """Words of names that decide the outcome wherever they occur: unusual outcomes first, then those of most cases."""
    seen, count = {}, collections.Counter()
    usual = collections.Counter(outcomes.values()).most_common(1)[0][0]
    for case, outcome in outcomes.items():
        for word in words_of(case[len(group) + 1 :]):
            seen.setdefault(word, set()).add(outcome)
            count[word] += 1
    for word, number in sorted(count.items(), key=lambda item: (usual in seen[item[0]], -item[1], item[0])):
        if len(word) < 3 or number < 8 or len(seen[word]) > 1:
            continue
        (outcome,) = seen[word]
        if all(o == outcome for case, o in outcomes.items() if word in case):
            yield word, outcome


def compact(outcomes, group):
    """The tree's lines, and after them a line for each word that spares several of those."""
    rest, lines, words = outcomes, tree_lines(outcomes, group), []
    if len(lines) < 8:
        return lines
    for word, outcome in itertools.islice(telling_words(outcomes, group), 120):
        smaller = {case: o for case, o in rest.items() if word not in case}
        fewer = tree_lines(smaller, group)
        if len(fewer) + 3 < len(lines):
            rest, lines = smaller, fewer
            words.append(f"{outcome} *{word}*")
    return lines + words


def read_compact(path):
    exact, below, words = {}, {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            text = line.split("#")[0].split()
            if len(text) != 2:
                continue
            outcome, pattern = text
            if pattern.startswith("*"):
                words.append((pattern[1:-1], outcome))
            elif pattern.endswith(".*"):
                below[pattern[:-1]] = outcome
            else:
                exact[pattern] = outcome

    def outcome_of(case):
        for word, outcome in reversed(words):
            if word in case:
                return outcome
        if case in exact:
            return exact[case]
        # A longer prefix is always a later line.
        at = len(case)
        while (at := case.rfind(".", 0, at)) >= 0:
            if case[: at + 1] in below:
                return below[case[: at + 1]]
        return None

    return outcome_of


def write(args):
    outcomes = {}
    for directory in args.runs:
        outcomes.update(read_run(directory, args.group))
    if not outcomes:
        sys.exit("compact_results: no case of that group")
    counts = collections.Counter(outcomes.values())
    lines = [f"# {args.group}: {len(outcomes)} cases" + (f", {args.note}" if args.note else "")]
    lines += [f"# {outcome} {count}" for outcome, count in sorted(counts.items())]
    lines += compact(outcomes, args.group)
    with open(args.to, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    # The file has to say what the run said.
    outcome_of = read_compact(args.to)
    assert all(outcome_of(case) == outcome for case, outcome in outcomes.items())


def diff(args):
    outcome_of = read_compact(args.file)
    changed = 0
    for case, outcome in sorted(read_run(args.run, args.group).items()):
        if outcome_of(case) != outcome:
            print(f"{outcome_of(case)} -> {outcome}: {case}")
            changed += 1
    return 1 if changed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    writer = commands.add_parser("write", help="writes a file from one or more runs (later ones win)")
    writer.add_argument("runs", nargs="+")
    writer.add_argument("--group", required=True)
    writer.add_argument("--note", help="said in the first line")
    writer.add_argument("--to", required=True)
    writer.set_defaults(run_command=write)
    differ = commands.add_parser("diff", help="compares a file with a run")
    differ.add_argument("file")
    differ.add_argument("run")
    differ.add_argument("--group", required=True)
    differ.set_defaults(run_command=diff)
    args = parser.parse_args()
    return args.run_command(args)


if __name__ == "__main__":
    sys.exit(main())
