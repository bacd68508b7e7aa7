"""Explains by verdicts.tsv of a folder what proxies changed, or how an answer differs, as a table. Fails if something is unexplained, or is a fault."""
import collections
import json
import os
import re
import sys

OUT = os.environ["OUT"]


def verdicts(folder):
    """Who makes the change (a pattern of the names, in their order), the change, the verdict, why, and in which rows."""
    with open(folder + "/verdicts.tsv") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                who, change, verdict, sentence, *rows = line.rstrip("\n").split("\t")
                yield re.compile(who), re.compile(change), verdict, sentence, re.compile(rows[0] if rows else "")


def changes(rows):
    """Each row's changes, with those that make them; not those that all of several proxies make."""
    for row in rows:
        by = collections.defaultdict(list)
        for who, made in row["changes"].items():
            for change in made:
                by[change].append(who)
        for change, who in sorted(by.items()):
            if len(who) == 1 or len(who) < len(row["changes"]):
                yield row, change, ",".join(who)


def main(folder, all_callers):
    with open(OUT + "/rows.json") as file:
        rows = json.load(file)
    known = list(verdicts(folder))
    lines, unexplained = collections.defaultdict(list), []
    for row, change, who in changes(rows):
        name = f"{row['caller']} {row['case']}"
        for number, (makers, pattern, _, _, where) in enumerate(known):
            if makers.fullmatch(who) and pattern.search(change) and where.search(name):
                lines[number].append((name, change, who))
                break
        else:
            unexplained.append(f"{name}: {change} ({who})")
    with open(OUT + "/differences.txt", "w") as log:
        for number, found in sorted(lines.items()):
            log.write(f"{known[number][2]}: {known[number][3]}\n")
            log.writelines(f"    {name}: {change} ({who})\n" for name, change, who in found)
    same = sum(not any(row["changes"].values()) for row in rows)
    print(f"{len(rows)} rows (caller and case), {same} of them without a difference; each beside {', '.join(rows[0]['changes'])}.\n")
    print("| what differs | rows | such as | verdict |\n|---|---|---|---|")
    for number, found in sorted(lines.items()):
        print(f"| {known[number][3]} | {len({name for name, _, _ in found})} | `{found[0][0]}` | {known[number][2]} |")
    unused = [f"{one[0].pattern}\t{one[1].pattern}" for number, one in enumerate(known) if number not in lines and all_callers]
    for title, listed in (("unexplained", unexplained), ("no longer seen", unused)):
        for one in listed:
            print(f"{title}: {one}", file=sys.stderr)
    if unexplained or any(known[number][2] == "fault" for number in lines):
        raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1], not sys.argv[2:])
