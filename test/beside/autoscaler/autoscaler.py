"""Replays hours of statistics through Knative's autoscaler and this one, and compares what they decide. "run autoscaler" starts it."""
import json
import math
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ["OUT"]
HOUR = 3600


def steady(value):
    return lambda second, _: value


def bursts(low, high, length, every):
    return lambda second, _: high if second % every < length and second >= every else low


def ramp(top):
    return lambda second, _: top * (1 - abs(2 * second / HOUR - 1))


def wave(top, period):
    return lambda second, _: round(top * (1 + math.sin(2 * math.pi * second / period)) / 2, 3)


def noise(mean):
    return lambda second, chance: round(chance.expovariate(1 / mean), 3)


def visits(each, length, high):
    """Visits of a few seconds, ever further apart."""
    starts, at = [], 100
    while at < HOUR:
        starts.append(at)
        at += each + 17 * len(starts)
    return lambda second, _: high if any(start <= second < start + length for start in starts) else 0


def gaps(load, share):
    return lambda second, chance: None if chance.random() < share else load(second, chance)


def silence(load, begin, end):
    return lambda second, chance: None if begin <= second % 900 < end else load(second, chance)


def day(second, chance):
    """Steady, a surge, a fall, nothing, single requests, and noise."""
    parts = [steady(25), bursts(5, 180, 40, 200), ramp(90), steady(0), visits(90, 2, 1), noise(30)]
    return parts[second * len(parts) // HOUR](second, chance)


# Name, load, annotations (without their group), containerConcurrency, seconds until a pod is ready.
HOURS = [
    ("steady", steady(25), {}, 0, 4), ("steady-cc-10", steady(25), {}, 10, 4), ("steady-cc-1", steady(3), {}, 1, 4), ("nothing", steady(0), {}, 0, 4),
    ("day", day, {"target": "10"}, 0, 4), ("day-cc-1", day, {}, 1, 4), ("day-slow-pods", day, {"target": "10"}, 0, 45), ("day-fast-pods", day, {"target": "10"}, 0, 1),
    ("bursts", bursts(5, 80, 30, 600), {"target": "10"}, 0, 4), ("bursts-from-zero", bursts(0, 200, 20, 600), {"target": "10"}, 0, 4),
    ("bursts-threshold", bursts(5, 80, 30, 600), {"target": "10", "panic-threshold-percentage": "1000"}, 0, 4),
    ("bursts-low-threshold", wave(80, 300), {"target": "10", "panic-threshold-percentage": "110"}, 0, 4),
    ("bursts-half-panic-window", bursts(5, 80, 30, 600), {"target": "10", "panic-window-percentage": "50"}, 0, 4),
    ("bursts-whole-panic-window", bursts(5, 80, 30, 600), {"target": "10", "panic-window-percentage": "100"}, 0, 4),
    ("bursts-odd-panic-window", wave(80, 300), {"target": "10", "window": "45s", "panic-window-percentage": "7.7"}, 0, 4),
    ("ramp", ramp(100), {"target": "7"}, 0, 4), ("ramp-cc-3", ramp(100), {}, 3, 10), ("ramp-utilization", ramp(100), {"target": "10", "target-utilization-percentage": "100"}, 0, 4),
    ("fall", lambda second, _: 100 if second < 1000 else 0, {"target": "1"}, 0, 4), ("wave", wave(60, 240), {"target": "10"}, 0, 4),
    ("visits", visits(60, 3, 1), {}, 0, 4), ("visits-cc-1", visits(60, 3, 1), {}, 1, 4), ("visits-retention", visits(60, 3, 1), {"scale-to-zero-pod-retention-period": "45s"}, 0, 4),
    ("visits-long-retention", visits(60, 3, 1), {"scale-to-zero-pod-retention-period": "7m"}, 0, 4), ("visits-slow-pods", visits(200, 90, 1), {}, 0, 50),
    ("visits-window-6", visits(20, 2, 4), {"window": "6s", "target": "1"}, 0, 2), ("visits-window-600", visits(60, 3, 1), {"window": "600s"}, 0, 4),
    ("visits-window-3600", visits(60, 3, 1), {"window": "1h"}, 0, 4),
    ("rps", lambda second, chance: day(second, chance), {"metric": "rps", "target": "20"}, 0, 4), ("rps-default", wave(1500, 600), {"metric": "rps"}, 5, 4),
    ("min", visits(60, 3, 30), {"min-scale": "2", "target": "10"}, 0, 4), ("min-max", day, {"min-scale": "2", "max-scale": "5", "target": "10"}, 0, 4),
    ("max", day, {"max-scale": "3", "target": "10"}, 0, 4), ("max-in-panic", bursts(0, 200, 20, 600), {"max-scale": "4", "target": "10"}, 0, 4),
    ("initial-3", steady(0), {"initial-scale": "3"}, 0, 10), ("initial-3-load", steady(5), {"initial-scale": "3", "target": "10"}, 0, 20),
    ("initial-0", visits(60, 3, 1), {"initial-scale": "0"}, 0, 4), ("initial-5-max-3", steady(5), {"initial-scale": "5", "max-scale": "3", "target": "10"}, 0, 4),
    ("initial-2-min-4", visits(60, 3, 1), {"initial-scale": "2", "min-scale": "4"}, 0, 10),
    ("activation", visits(60, 3, 1), {"activation-scale": "3"}, 0, 4), ("activation-max", day, {"activation-scale": "3", "max-scale": "6", "target": "10"}, 0, 4),
    ("activation-down", ramp(100), {"activation-scale": "5", "target": "10"}, 0, 4),
    ("delay", bursts(5, 80, 30, 600), {"scale-down-delay": "120s", "target": "10"}, 0, 4), ("delay-odd", wave(60, 100), {"scale-down-delay": "35s", "target": "10"}, 0, 4),
    ("delay-to-zero", visits(60, 3, 1), {"scale-down-delay": "15m"}, 0, 4), ("delay-1", day, {"scale-down-delay": "1s", "target": "10"}, 0, 4),
    ("weighted", day, {"metric-aggregation-algorithm": "weighted-exponential", "target": "10"}, 0, 4),
    ("weighted-6", wave(60, 100), {"metric-aggregation-algorithm": "weighted-exponential", "target": "10", "window": "6s"}, 0, 4),
    ("noise", noise(40), {"target": "10"}, 0, 4), ("noise-small", noise(0.6), {}, 1, 4), ("noise-fine-target", noise(0.05), {"target": "0.01"}, 0, 4),
    ("gaps", gaps(day, 0.3), {"target": "10"}, 0, 4), ("gaps-large", gaps(noise(40), 0.9), {"target": "10"}, 0, 4), ("silence", silence(wave(60, 240), 300, 330), {"target": "10"}, 0, 4),
    ("silence-of-a-window", silence(wave(60, 240), 300, 420), {"target": "10"}, 0, 4),
    ("never-ready", steady(5), {"target": "10"}, 0, -1), ("never-ready-idle", steady(0), {}, 0, -1), ("never-ready-deadline", lambda second, _: 5 if second < 30 else 0, {"serving.knative.dev/progress-deadline": "120s"}, 0, -1),
    ("burst-capacity-0", day, {"target-burst-capacity": "0", "target": "10"}, 0, 4), ("burst-capacity-200", day, {"target-burst-capacity": "200", "target": "10"}, 0, 4),
    ("burst-capacity-0-visits", visits(60, 3, 1), {"target-burst-capacity": "0"}, 0, 4), ("burst-capacity-10", wave(300, 600), {"target-burst-capacity": "10"}, 50, 4)]


def annotations(short):
    full = {key if "/" in key else "autoscaling.knative.dev/" + key: value for key, value in short.items()}
    # The activator stays in the path, as it does here, unless the hour is about that.
    full.setdefault("autoscaling.knative.dev/target-burst-capacity", "-1")
    return full


def hours():
    for name, load, short, limit, start in HOURS:
        chance = random.Random(name)
        values = [load(second, chance) for second in range(HOUR)]
        reports = [None if value is None else [value, round(value * (1 if "rps" not in name else 1.5))] for value in values]
        yield {"name": name, "annotations": annotations(short), "containerConcurrency": limit, "startSeconds": start, "reports": reports}


def verdicts():
    """In which hours (a pattern), and why."""
    with open(HERE + "/verdicts.tsv") as file:
        return [line.rstrip("\n").split("\t", 1) for line in file if line.strip() and not line.startswith("#")]


def main():
    os.makedirs(OUT, exist_ok=True)
    recorded = OUT + "/hours.json"
    with open(recorded, "w") as file:
        json.dump(list(hours()), file)
    serving = os.environ["SERVING"]
    with open(OUT + "/overlay.json", "w") as file:
        json.dump({"Replace": {serving + "/pkg/reconciler/autoscaling/kpa/hours_test.go": HERE + "/knative_test.go"}}, file)
    if not os.environ.get("KEEP"):
        subprocess.run(["go", "test", "-count=1", "-overlay", OUT + "/overlay.json", "-run", "^TestHours$", "./pkg/reconciler/autoscaling/kpa"], cwd=serving, check=True,
                       env={**os.environ, "HOURS": recorded, "OUT": OUT})
    subprocess.run([os.environ["JAVA"], "-cp", os.environ["CLUSTER"], HERE + "/Replay.java", recorded, OUT], check=True)
    known, used, failed = verdicts(), set(), False
    print("| hour | decisions | the same | replicas, second by second | `Active` | why not |\n|---|---|---|---|---|---|")
    for name, *_ in HOURS:
        with open(f"{OUT}/{name}.knative") as theirs, open(f"{OUT}/{name}.ours") as ours:
            pairs = [(one.split(), other.split()) for one, other in zip(theirs, ours)]
        ticks = [(one, other) for one, other in pairs if int(one[0]) % 2 == 0]
        decided, replicas, active = (sum(one[field] == other[field] for one, other in which) for field, which in ((3, ticks), (4, pairs), (5, pairs)))
        same = decided == len(ticks) and replicas == active == len(pairs)
        pattern, why = ("", "") if same else next((one for one in known if re.fullmatch(one[0], name)), ("", ""))
        used.add(pattern)
        if not same and (not why or why.startswith("fault")):
            failed = True
            first = next((one, other) for one, other in pairs if one[3:6] != other[3:6])
            print(f"unexplained: {name}: Knative's {' '.join(first[0])}; ours {' '.join(first[1])}", file=sys.stderr)
        print(f"| {name} | {len(ticks)} | {decided} | {replicas} of {len(pairs)} | {active} of {len(pairs)} | {why} |")
    for pattern in sorted({one[0] for one in known} - used):
        print("no longer seen: " + pattern, file=sys.stderr)
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
