"""Programs that call the API by themselves: libraries of clients, and kubectl. Each prints or answers rows."""
import json
import os
import re
import subprocess
import tempfile

from recorder import steady

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = HERE + "/clients"


def program(*command):
    """A program that prints rows: lines of JSON with a title and a value."""
    def run(it):
        done = subprocess.run(command, env={**os.environ, "KUBECONFIG": it.server.kubeconfig}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        for line in done.stdout.splitlines():
            if line.startswith("["):
                title, value = json.loads(line)
                it.record(title, steady(value))
        if done.returncode:
            it.record("ends", {"code": done.returncode, "errors": done.stderr.strip().splitlines()[-4:]})
    return run


FILES = {
    "map": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, labels: {it: 'yes'}}\ndata: {a: '1', b: '2'}\n",
    "map2": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, labels: {it: 'yes'}}\ndata: {a: '2'}\n",
    "map3": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m3, labels: {it: 'yes'}}\ndata: {a: '2'}\n",
    "bad": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: 1}\nmore: {}\n",
    "deployment": """apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 0
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: x, command: [sleep, '1']}]}
"""}
# What is in answers.txt of src/test/kubectl is not repeated here.
COMMANDS = [
    "create namespace {ns}", "create -f map", "create -f map", "apply -f map", "apply -f map2", "get cm m -o jsonpath={{.data}}", "apply -f map2", "apply --dry-run=server -f map", "apply --dry-run=client -f map",
    "apply --server-side -f map", "apply --server-side --force-conflicts -f map", "apply --server-side --field-manager=other -f map2", "apply --server-side -f bad", "apply -f bad",
    "apply -f bad --validate=ignore", "apply -f bad --validate=warn", "apply view-last-applied cm m", "get cm m --show-managed-fields -o jsonpath={{.metadata.managedFields[*].manager}}",
    "patch cm m -p {{\"data\":{{\"a\":\"3\"}}}}", "patch cm m --type=merge -p {{\"data\":{{\"a\":null}}}}", "patch cm m --type=json -p [{{\"op\":\"test\",\"path\":\"/data/b\",\"value\":\"x\"}}]",
    "patch cm m --type=json -p [{{\"op\":\"remove\",\"path\":\"/data/zz\"}}]", "patch cm m -p {{\"data\":3}}", "patch cm missing -p {{}}", "apply -f map3",
    "get cm -l it=yes -o name --chunk-size=1", "get cm -l it=yes --sort-by=.metadata.name -o name", "get cm --field-selector metadata.name=m3 -o name", "get cm --field-selector spec.x=m3", "get cm -l a(b",
    "get cm m missing", "get cm m m3 --no-headers -o custom-columns=N:.metadata.name", "get cm,secret -l it=yes -o name", "get nothing", "get cm m -o go-template={{{{.data.b}}}}",
    "get lease", "get cm -l it=yes --watch-only --output-watch-events --request-timeout=1s", "label cm m it=no", "label cm m it=no --overwrite --resource-version=1", "label cm m it=yes --overwrite", "label cm -l it=yes more=1",
    "annotate cm m a=b --overwrite", "annotate cm m a-", "create -f deployment", "scale deployment d --replicas=0", "scale deployment d --current-replicas=7 --replicas=1", "scale deployment d --resource-version=1 --replicas=1",
    "get deployment d --subresource=scale", "get deployment d --subresource=status -o jsonpath={{.kind}}", "patch deployment d --subresource=scale --type=merge -p {{\"spec\":{{\"replicas\":0}}}}", "patch deployment d -p {{\"spec\":{{\"replicas\":-1}}}}",
    "rollout status deployment d --timeout=5s", "autoscale deployment d --max=3", "get hpa d", "wait deployment d --for=jsonpath={{.spec.replicas}}=0 --timeout=5s", "wait cm m --for=delete --timeout=1s", "wait cm missing --for=create --timeout=1s", "wait cm missing --for=condition=x --timeout=1s",
    "replace -f map", "replace --force -f map", "replace -f map3 --dry-run=server", "diff -f map2", "diff --server-side -f map2", "delete cm m --dry-run=server", "delete cm missing", "delete cm missing --ignore-not-found",
    "delete -f map3 --cascade=foreground", "delete cm -l it=yes --wait=false", "delete deployment d --cascade=orphan", "delete rs -l app=d", "delete deployment,cm -l it=yes", "auth can-i create pods", "api-resources --api-group=coordination.k8s.io",
    "explain lease.spec.holderIdentity", "get --raw /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/missing", "get events", "delete namespace {ns}"]


def without_age(lines):
    """Lines without ages, names of temporary files, and times of klog."""
    return [re.sub(r"\b\d+[smh](\d+s)?\b|(?<=LIVE-)\d+|(?<=MERGED-)\d+|^[WEI]\d{4} [\d:.]+ +\d+|(?<=version to be 1, was )\d+", "AGE", line) for line in lines]


def kubectl(binary, namespace):
    def run(it):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in FILES.items():
                with open(f"{folder}/{name}", "w") as file:
                    file.write(content)
            for number, command in enumerate(COMMANDS, 1):
                arguments = command.format(ns=namespace).split(" ")
                done = subprocess.run([binary, "--kubeconfig", it.server.kubeconfig, "--namespace", namespace, "--cache-dir", folder + "/cache", *arguments], cwd=folder,
                                      env={**os.environ, "KUBECTL_EXTERNAL_DIFF": "diff -N"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
                seen = {"code": done.returncode, "out": without_age(done.stdout.splitlines()), "errors": without_age(done.stderr.splitlines())}
                it.record(f"{number} {command.format(ns='NS')}", steady(seen))
    return run
