"""Sends the same calls to a control plane of Kubernetes and to embedded mode, and says how the answers differ. "run api" starts it."""
import json
import os
import subprocess
import sys

import raw
import recorder
import servers
from tools import CLIENTS, HERE, kubectl, program

OUT = os.environ["OUT"]
JAVA = [os.environ["JAVA"], "-cp", os.environ["CLUSTER"]]
CALLERS = {"raw": raw.run, "node": program("node", CLIENTS + "/kube.mjs"), "python": program("python3", CLIENTS + "/kube.py"), "fabric8": program(*JAVA, CLIENTS + "/Fabric8.java"),
           "client-go": program(OUT + "/client-go"), "helm": program(*JAVA, CLIENTS + "/HelmCalls.java", HERE + "/chart", HERE + "/../../../helm/activator")}
# Of each kubectl that is given: its minor version names it.
for binary in os.environ.get("KUBECTL", "kubectl").split():
    version = json.loads(subprocess.run([binary, "version", "--client", "-o", "json"], stdout=subprocess.PIPE, check=True).stdout)["clientVersion"]["minor"]
    CALLERS["kubectl-1." + version] = kubectl(binary, "kubectl-1-" + version)


def answers(server, names):
    """What each caller saw: its rows by title."""
    found = {}
    for name in names:
        it = recorder.Recorder(server)
        CALLERS[name](it)
        found[name] = it.rows
    return found


def main(names):
    both = []
    for start in (servers.cluster, servers.ours):
        server = start()
        try:
            both.append(answers(server, names))
        finally:
            server.stop()
    with open(OUT + "/answers.json", "w") as file:
        json.dump(both, file, indent=1)
    compare(names, both)


def compare(names, both):
    rows = []
    for name in names:
        theirs, ours = both[0][name], both[1][name]
        for title in [*theirs, *(title for title in ours if title not in theirs)]:
            rows.append({"caller": name, "case": title, "changes": {"us": list(recorder.changes(theirs.get(title, {}), ours.get(title, {})))}})
    with open(OUT + "/rows.json", "w") as file:
        json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:] or list(CALLERS))
