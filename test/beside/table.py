"""Explains what the proxies changed by verdicts.tsv, as a table. Fails if something is unexplained, or is a fault."""
import collections
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ["OUT"]
PROXIES = ("us", "knative", "haproxy", "nginx")


def verdicts():
    """Who makes the change (a pattern of the names, in the order above), the change, the verdict, why, and in which rows."""
    with open(HERE + "/verdicts.tsv") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                who, change, verdict, sentence, *rows = line.rstrip("\n").split("\t")
                yield re.compile(who), re.compile(change), verdict, sentence, re.compile(rows[0] if rows else "")


def changes(rows):
    """Each row's changes that not all proxies make, with those that make them."""
    for row in rows:
        by = collections.defaultdict(list)
        for proxy in PROXIES:
            for change in row["changes"][proxy]:
                by[change].append(proxy)
        for change, who in sorted(by.items()):
            if len(who) < len(PROXIES):
                yield row, change, ",".join(who)


def main():
    with open(OUT + "/rows.json") as file:
        rows = json.load(file)
    known = list(verdicts())
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
    print(f"{len(rows)} rows (caller and case), each sent directly and through {', '.join(PROXIES)}.\n")
    print("| what differs | rows | such as | verdict |\n|---|---|---|---|")
    for number, found in sorted(lines.items()):
        print(f"| {known[number][3]} | {len({name for name, _, _ in found})} | `{found[0][0]}` | {known[number][2]} |")
    unused = [f"{one[0].pattern}\t{one[1].pattern}" for number, one in enumerate(known) if number not in lines and not sys.argv[1:]]
    for title, listed in (("unexplained", unexplained), ("no longer seen", unused)):
        for one in listed:
            print(f"{title}: {one}", file=sys.stderr)
    if unexplained or any(known[number][2] == "fault" for number in lines):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
