"""Sends the same traffic to a pod directly and through each proxy, and says what each proxy changes. "run" starts it."""
import collections
import json
import os
import re
import subprocess
import sys
import time

import callers
import pods
import proxies

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ["OUT"]
PROXIES = ["direct", "us", "knative", "haproxy", "nginx"]
US, KNATIVE = 7022, 8012
# What serves, by the last digit of its ports: 70.. itself, 71.. the relay before it.
PODS = {"raw": None, "grpc": ["node", "clients/grpc.js", "serve", "7001"], "websocket": ["node", "clients/websocket.js", "serve", "7002"],
        "python": ["python3", "-m", "http.server", "--protocol", "HTTP/1.1", "-b", "127.0.0.1", "-d", "clients", "7003"],
        "jwebserver": ["jwebserver", "-b", "127.0.0.1", "-p", "7004", "-d", HERE + "/clients"], "static-nginx": None, "container": None}
STATIC_NGINX = 7005


def port_of(proxy, pod, version):
    """Where a proxy takes requests for a pod."""
    return {"direct": 7100 + pod, "us": US, "knative": KNATIVE, "haproxy": 7300 + 10 * pod + version, "nginx": 7400 + 10 * pod + version}[proxy]


def relay_port(proxy, pod, version):
    return 7600 + 30 * PROXIES.index(proxy) + 3 * pod + version


def caller_port(kind, proxy, version):
    """Where HAProxy and nginx, as callers, take the requests that they send to a proxy."""
    return {"haproxy": 7800, "nginx": 7850}[kind] + 5 * version + PROXIES.index(proxy)


class Exchange:
    """One case of one caller through one proxy, as recorded at both ends."""

    def __init__(self, report, at_caller, at_pod):
        self.report = report
        self.sent, self.got, self.caller_log = at_caller
        self.received, self.answered, self.pod_log = at_pod


def play(front, back, call, port, pod, case):
    front.recorder.take()
    back.recorder.take()
    report = call(port, pod, case)
    while time.monotonic() - max(front.recorder.last, back.recorder.last) < 0.015:
        time.sleep(0.003)
    return Exchange(report, front.recorder.take(), back.recorder.take())


VARIABLE = [(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", "UUID"), (r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20(?!44)\d\d [\d:]{8} GMT", "NOW"),
            (r"127\.0\.0\.1:\d+", "ADDRESS"), (r":7[6-9]\d\d\b", ":PORT"), (r"^\d+[mu]$", "TIME"), (r"\b\d{20}\b", "BOUNDARY"), (r"port \d{5}", "PORT"), (r"\b00-[0-9a-f]{32}-[0-9a-f]{16}-", "00-TRACE-")]


# Fields whose values differ in each run.
RANDOM = ("sec-websocket-key", "sec-websocket-accept", "grpc-trace-bin")


def steady(text):
    for pattern, name in VARIABLE:
        text = re.sub(pattern, name, text)
    return text if len(text) < 120 else text[:60] + f"...{len(text)}"


def start_line(message):
    return re.sub(r"/c/ok\?q+", "/c/ok?q...", message.start)[:200]


def is_interim(message):
    return re.match(r"HTTP/(1\.[01]|2) 1(?!01)", message.start) is not None


def differences(side, before, after):
    """What a proxy did to the messages of one side, each as a short text. What follows from another status is left out."""
    found = set()
    interims = [["".join(re.findall(r" (1\d\d)", one.start)) + "".join(f" {name.lower()}: {value}" for name, value in one.fields)
                 for one in listed if is_interim(one)] for listed in (before, after)]
    if interims[0] != interims[1]:
        found.add(f"{side}: interim responses: {' | '.join(interims[0]) or 'none'} -> {' | '.join(interims[1]) or 'none'}")
    before, after = ([one for one in listed if not is_interim(one)] for listed in (before, after))
    if len(before) != len(after):
        found.add(f"{side}: {len(after)} messages instead of {len(before)}: " + "; ".join(steady(start_line(one)) for one in after))
        return found
    for old, new in zip(before, after):
        if old.start != new.start:
            found.add(f"{side}: {start_line(old)} -> {start_line(new)}")
            if side == "caller" and old.start.split(" ")[1:2] != new.start.split(" ")[1:2]:
                continue
        ignored = ("content-length", "transfer-encoding") if old.framing != new.framing else ()
        fields(side, "", old.fields, new.fields, found, ignored)
        fields(side, "trailer ", old.trailers, new.trailers, found)
        if old.framing != new.framing:
            found.add(f"{side}: framing {old.framing} -> {new.framing}")
        if steady(repr(old.body)) != steady(repr(new.body)) and not any(name.lower() in RANDOM for name, _ in old.fields):
            found.add(f"{side}: body {steady(repr(old.body))} -> {steady(repr(new.body))}")
        if old.complete != new.complete:
            found.add(f"{side}: " + ("completed" if new.complete else "incomplete"))
        if old.extensions and not new.extensions:
            found.add(f"{side}: no chunk extensions")
    return found


def fields(side, kind, before, after, found, ignored=()):
    old, new = collections.defaultdict(list), collections.defaultdict(list)
    for store, listed in ((old, before), (new, after)):
        for name, value in listed:
            if name.lower() not in RANDOM:
                store[name.lower()].append(value)
    for name in sorted((set(old) | set(new)).difference(ignored)):
        if name not in new:
            found.add(f"{side}: - {kind}{re.sub(r"^x-[0-9]+$", "x-N", name)}")
        elif name not in old:
            found.add(f"{side}: + {kind}{re.sub(r"^x-[0-9]+$", "x-N", name)}: {steady(' | '.join(new[name]))}")
        elif [steady(one) for one in old[name]] != [steady(one) for one in new[name]]:
            found.add(f"{side}: {kind}{name}: {steady(' | '.join(old[name]))} -> {steady(' | '.join(new[name]))}")
    common = [name for name, _ in before if name.lower() in new]
    there = [name for name, _ in after if name.lower() in old]
    if sorted(map(str.lower, common)) == sorted(map(str.lower, there)):
        if sorted(common) != sorted(there):
            found.add(f"{side}: other case of {kind}names")
        if list(map(str.lower, common)) != list(map(str.lower, there)):
            found.add(f"{side}: other order of {kind}fields")


def compared(direct, via):
    found = differences("pod", direct.received, via.received) | differences("caller", direct.got, via.got)
    if direct.report != via.report:
        found.add(f"report: {steady(direct.report)} -> {steady(via.report)}")
    return found


def spawn(*command, **options):
    return subprocess.Popen(command, cwd=HERE, **options)


def start_others():
    """All but the activators: proxies for each pod, proxies that are callers, and pods that are programs."""
    for kind, number in (("haproxy", 7300), ("nginx", 7400)):
        servers = [(number + 10 * pod + version, version, 7100 + pod, 1 if name == "container" else version)
                   for pod, name in enumerate(PODS) for version in (1, 2)]
        servers += [(caller_port(kind, proxy, version), version, relay_port(proxy, 0, version), version) for proxy in PROXIES for version in (1, 2)]
        with open(f"{OUT}/{kind}.conf", "w") as file:
            file.write(proxies.haproxy(servers) if kind == "haproxy" else proxies.nginx(servers, STATIC_NGINX, HERE + "/clients"))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [spawn("haproxy", "-q", "-db", "-f", OUT + "/haproxy.conf"), spawn("nginx", "-p", OUT, "-c", OUT + "/nginx.conf")]
    return started + [spawn(*command, **quiet) for command in PODS.values() if command]


def start_activators():
    cluster = spawn(os.environ["JAVA"], "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                    "-cp", os.environ["CLUSTER"], "dev.activator.bench.beside.BesideCluster", os.environ["KNATIVE"], str(US),
                    os.environ["US"], *[f"{name}={7100 + number}" for number, name in enumerate(PODS)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in cluster.stdout:
        if line.strip() == "ready":
            return cluster
    raise SystemExit("the activators did not start")


def heads(arguments):
    """Generated heads, also through Go's proxy: heads/main.go, which is the pod."""
    cluster = start_activators()
    try:
        subprocess.run([os.environ["HEADS"], f"127.0.0.1:{US}", "7100", *arguments], check=True)
    finally:
        cluster.kill()


def main():
    if sys.argv[1:2] == ["heads"]:
        return heads(sys.argv[2:])
    relays = {pod: pods.Relay(7100 + pod, 7000 + pod) for pod in range(len(PODS))}
    fronts = {(proxy, pod, version): pods.Relay(relay_port(proxy, pod, version), port_of(proxy, pod, version))
              for proxy in PROXIES for pod in range(len(PODS)) for version in (1, 2)}
    pods.start([*relays.values(), *fronts.values()], [7000, 7006])
    started, rows = start_others(), []
    try:
        started.append(start_activators())
        with open(OUT + "/bytes.txt", "w") as log:
            for caller in sys.argv[1:] or callers.CALLERS:
                kind, pod, version, names = callers.CALLERS[caller]
                begin, number = time.monotonic(), list(PODS).index(pod)
                for case in names:
                    rows.append(row(log, caller, pod, case, {
                        proxy: play(fronts[proxy, number, version], relays[number], kind,
                                    caller_port(caller.split("-")[0], proxy, version) if caller.startswith(("haproxy", "nginx"))
                                    else relay_port(proxy, number, version), pod, case) for proxy in PROXIES}))
                print(f"{caller}: {len(names)} cases, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    finally:
        for one in started:
            one.kill()
    with open(OUT + "/rows.json", "w") as file:
        json.dump(rows, file, indent=1)


def row(log, caller, pod, case, seen):
    for proxy, exchange in seen.items():
        log.write(f"\n## {caller} {case} {proxy}: {exchange.report}\n")
        for end, said in (("caller", exchange.caller_log), ("pod", exchange.pod_log)):
            log.writelines(f"{end} {line if len(line) < 3000 else line[:1500] + ' ... ' + line[-300:]}\n" for line in said)
    return {"caller": caller, "pod": pod, "case": case,
            "changes": {proxy: sorted(compared(seen["direct"], seen[proxy])) for proxy in PROXIES if proxy != "direct"}}


if __name__ == "__main__":
    main()
