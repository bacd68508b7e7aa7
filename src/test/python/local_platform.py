#!/usr/bin/python3
"""Uses embedded mode as people do: with kubectl, Python's kubernetes client, and requests.

usage: local_platform.py API_URL REQUEST_PORT KUBECTL [PART...]

Prints a line for each part, and ends with 1 if one fails.
"""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from kubernetes import client, watch

API, PORT, KUBECTL = sys.argv[1], int(sys.argv[2]), sys.argv[3]
HOME = tempfile.mkdtemp(prefix="local-platform")
PATIENCE_SECONDS = 60
GROUP = ("serving.knative.dev", "v1", "default", "services")

client.Configuration.set_default(client.Configuration(host=API))
core, apps, custom = client.CoreV1Api(), client.AppsV1Api(), client.CustomObjectsApi()

PROGRAM = '''
import http.server, json, os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("begun with", sys.argv[1:], flush=True)
mode = os.environ.get("MODE", "")
if mode == "exit":
    print("no disk", flush=True); sys.exit(3)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if mode == "crash" and self.path == "/crash":
            print("crashed", flush=True); os._exit(4)
        body = json.dumps(dict(os.environ)).encode()
        self.send_response(404 if mode == "lost" and self.path == "/ready" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
if mode == "deaf":
    time.sleep(600)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
'''
with open(HOME + "/program.py", "w") as file:
    file.write(PROGRAM)
COMMAND = ["/usr/bin/python3", "-S", HOME + "/program.py"]


class Run:
    def __init__(self, args, text):
        done = subprocess.run([KUBECTL, "-s", API, *args], input=text, text=True,
                              capture_output=True, timeout=PATIENCE_SECONDS,
                              env={"HOME": HOME, "PATH": os.environ["PATH"]})
        self.code, self.out, self.err = done.returncode, done.stdout.strip(), done.stderr.strip()


def kubectl(*args, text=None):
    run = Run(args, text)
    assert run.code == 0, "kubectl %s: %s" % (args, run.err)
    return run.out


def has(whole, *parts):
    for part in parts:
        assert part in whole, "no %r in:\n%s" % (part, whole)


def until(what, check):
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        value = check()
        if value:
            return value
        assert time.monotonic() < end, "not within %d s: %s" % (PATIENCE_SECONDS, what)
        time.sleep(0.05)


def get(host, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def service(name, annotations=None, command=None, **container):
    return {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"template": {"metadata": {"annotations": annotations or {}}, "spec": {
                "containers": [{"name": "web", "command": command or COMMAND, **container}]}}}}


def create(name, **what):
    return custom.create_namespaced_custom_object(*GROUP, service(name, **what))


def stored(name):
    return custom.get_namespaced_custom_object(*GROUP, name)


def env(**variables):
    return [{"name": name, "value": value} for name, value in variables.items()]


def pods(name):
    return core.list_namespaced_pod(
        "default", label_selector="serving.knative.dev/service=" + name).items


def ready(name):
    until(name + " is ready", lambda: condition(name).get("status") == "True")


def condition(name):
    all_of_them = stored(name).get("status", {}).get("conditions", [])
    return next((one for one in all_of_them if one["type"] == "Ready"), {})


def refused(call, code, *texts):
    try:
        call()
    except client.ApiException as refusal:
        assert refusal.status == code, refusal
        has(json.loads(refusal.body)["message"], *texts)
        return
    raise AssertionError("was not refused")


def logs():
    create("logs", env=env(MODE="crash"))
    assert get("logs.default.localhost")[0] == 200
    pod = pods("logs")[0].metadata.name
    has(kubectl("logs", pod, "--tail", "1"), "begun with")
    has(core.read_namespaced_pod_log(pod, "default"), "begun with")
    has(kubectl("logs", "-l", "serving.knative.dev/service=logs"), "begun with")
    assert get("logs.default.localhost", "/crash")[0] in (502, 503)
    until("the run before is shown", lambda: "crashed" in Run(["logs", "--previous", pod], None).out)
    has(kubectl("describe", "pod", pod), "Exit Code:    4", "Crashed")
    until("it runs again", lambda: get("logs.default.localhost")[0] == 200)


def environment():
    kubectl("create", "configmap", "settings", "--from-literal=COLOUR=red")
    create("environment", env=[{"name": "NAME", "value": "$(PLACE)-x"},
                               {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {
                                   "name": "passwords", "key": "mine"}}},
                               {"name": "POD", "valueFrom": {"fieldRef": {
                                   "fieldPath": "metadata.name"}}},
                               {"name": "SAID", "value": "$(PASSWORD)!"}],
           envFrom=[{"configMapRef": {"name": "settings"}}])
    status, body = get("environment.default.localhost")
    assert status == 503, status
    has(body, "passwords")
    pod = until("a pod waits", lambda: pods("environment"))[0]
    waiting = pod.status.container_statuses[0].state.waiting
    assert waiting.reason == "CreateContainerConfigError", waiting
    kubectl("create", "secret", "generic", "passwords", "--from-literal=mine=s3cret")
    until("it runs", lambda: get("environment.default.localhost")[0] == 200)
    values = json.loads(get("environment.default.localhost")[1])
    assert values["PASSWORD"] == "s3cret" and values["SAID"] == "s3cret!", values
    assert values["COLOUR"] == "red" and values["NAME"] == "$(PLACE)-x", values
    assert values["POD"].startswith("environment-00001-deployment-"), values
    pod = kubectl("describe", "pod", values["POD"])
    has(pod, "Start Time:", "set to the key 'mine' in secret 'passwords'", "settings")


def takeover():
    """A good Service that is patched to a program that ends: no caller notices."""
    create("takeover", annotations={"autoscaling.knative.dev/min-scale": "1"})
    ready("takeover")
    answers, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            answers.append(get("takeover.default.localhost"))

    callers = [threading.Thread(target=ask) for _ in range(4)]
    for caller in callers:
        caller.start()
    try:
        bad = {"spec": {"template": {"spec": {"containers": [
            {"name": "web", "command": COMMAND, "env": env(MODE="exit")}]}}}}
        custom.patch_namespaced_custom_object(*GROUP, "takeover", bad)
        until("the condition says why", lambda: "exit code 3" in json.dumps(
            stored("takeover")["status"]["conditions"]))
        status = stored("takeover")["status"]
        assert status["latestCreatedRevisionName"] == "takeover-00002", status
        assert status["latestReadyRevisionName"] == "takeover-00001", status
        bad["spec"]["template"]["spec"]["containers"][0]["env"] = env(MODE="mended")
        custom.patch_namespaced_custom_object(*GROUP, "takeover", bad)
        until("the third revision takes over", lambda: stored("takeover")["status"][
            "latestReadyRevisionName"] == "takeover-00003")
        until("callers get it", lambda: '"mended"' in get("takeover.default.localhost")[1])
    finally:
        stop.set()
        for caller in callers:
            caller.join()
    assert answers and {status for status, _ in answers} == {200}, \
        [answer for answer in answers if answer[0] != 200][:3]


def sixty():
    """Sixty Services are created and asked at once: no 404."""
    names = ["many-%02d" % i for i in range(60)]

    def make_and_ask(name):
        what = service(name)
        what["spec"]["template"]["spec"]["containers"] = [{"image": "activator.dev/hello"}]
        client.CustomObjectsApi().create_namespaced_custom_object(*GROUP, what)
        until(name + " is ready", lambda: condition(name).get("status") == "True")
        return get(name + ".default.localhost")[0]

    with ThreadPoolExecutor(60) as callers:
        statuses = list(callers.map(make_and_ask, names))
    assert set(statuses) == {200}, statuses
    for name in names:
        custom.delete_namespaced_custom_object(*GROUP, name)


def scaling():
    wide = "autoscaling.knative.dev/"
    create("scaling", annotations={wide + "min-scale": "2", wide + "max-scale": "3",
                                   wide + "target": "10", wide + "window": "6s"})
    until("two pods are ready", lambda: len([pod for pod in pods("scaling") if any(
        one.type == "Ready" and one.status == "True" for one in pod.status.conditions or [])]) == 2)
    has(" ".join(kubectl("get", "rev", "scaling-00001", "--no-headers").split()), "True 2 2")
    refused(lambda: create("number", annotations={wide + "target": 10}), 422,
            "spec.template.metadata.annotations." + wide + "target: Invalid value: 10")
    refused(lambda: create("range", annotations={wide + "min-scale": "5", wide + "max-scale": "2"}),
            422, "max-scale=2 is less than min-scale=5")
    custom.delete_namespaced_custom_object(*GROUP, "scaling")


def probes():
    create("probed", readinessProbe={"exec": {"command": ["test", "-e", HOME + "/open"]}},
           env=env(MODE="lost"))
    asked = []
    caller = threading.Thread(target=lambda: asked.append(get("probed.default.localhost")))
    caller.start()
    until("a pod runs", lambda: [pod for pod in pods("probed") if pod.status.container_statuses
                                 and pod.status.container_statuses[0].state.running])
    open(HOME + "/open", "w").close()
    caller.join()
    assert asked[0][0] == 200, asked
    create("tcp", readinessProbe={"tcpSocket": {"port": 8080}},
           livenessProbe={"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1})
    assert get("tcp.default.localhost")[0] == 200


def told_apart():
    """A program that listens elsewhere, and one whose readiness path is not there."""
    never = {"autoscaling.knative.dev/min-scale": "1"}
    create("deaf", annotations=never, env=env(MODE="deaf"))
    create("lost", annotations=never, env=env(MODE="lost"),
           readinessProbe={"httpGet": {"path": "/ready"}})
    until("it is said that nothing listens", lambda: "nothing listens on its PORT" in json.dumps(
        custom.get_namespaced_custom_object(*GROUP[:3], "revisions", "deaf-00001")))
    until("it is said what the path answers", lambda: "answers GET /ready" in json.dumps(
        custom.get_namespaced_custom_object(*GROUP[:3], "revisions", "lost-00001")))
    has(kubectl("get", "events"), "nothing listens on its PORT")
    for name in ("deaf", "lost"):
        custom.delete_namespaced_custom_object(*GROUP, name)


def warnings():
    manifest = service("warned")
    spec = manifest["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "v", "emptyDir": {}}]
    spec["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    spec["containers"][0]["enviroment"] = []
    # kubectl before 1.25 leaves it to the server, which warns.
    recent = "--validate='strict'" in kubectl("apply", "--help")
    told = Run(["apply", *(["--validate=warn"] if recent else []), "-f", "-"],
               json.dumps(manifest))
    assert told.code == 0, told.err
    where = "Warning: spec.template.spec."
    has(told.err, where + "volumes: ignored", where + "containers[0].resources: ignored",
        'Warning: unknown field "spec.template.spec.containers[0].enviroment", did you mean "env"?')
    strict = Run(["apply", "-f", "-"], json.dumps(service("strict", comand=["x"])))
    assert strict.code == (1 if recent else 0), strict.err
    has(strict.err, 'unknown field "spec.template.spec.containers[0].comand",'
                    ' did you mean "command"?')
    unknown = Run(["apply", "-f", "-"], '{"apiVersion":"apps/v1","kind":"DaemonSet",'
                                        '"metadata":{"name":"x"}}')
    has(unknown.err, "this server does not offer daemonsets: they have no effect here")
    has(Run(["get", "daemonsets"], None).err, "No resources found")
    refused(lambda: apps.create_namespaced_daemon_set("default", {"metadata": {"name": "x"}}), 405,
            "this server does not offer daemonsets")


def commands():
    has(kubectl("create", "namespace", "team"), "namespace/team created")
    kubectl("create", "configmap", "a", "--from-literal=k=v", "-n", "team")
    kubectl("create", "serviceaccount", "robot", "-n", "team")
    kubectl("create", "deployment", "web", "-n", "team", "--image=x", "--", *COMMAND)
    kubectl("wait", "--for=condition=Available", "deployment/web", "-n", "team")
    kubectl("delete", "namespace", "team")
    until("the namespace is gone with its processes", lambda: not core.list_namespaced_pod(
        "team").items and Run(["get", "namespace", "team"], None).code != 0)
    kubectl("run", "idle", "--image=x")
    kubectl("label", "pod", "idle", "a=b")
    kubectl("delete", "pod", "idle")
    seen = [change["type"] for change in watch.Watch().stream(
        core.list_namespace, field_selector="metadata.name=default", timeout_seconds=1)]
    assert seen == ["ADDED"], seen


def deployments():
    kubectl("apply", "-f", "-", text=json.dumps({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "plain"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "plain"}},
                 "template": {"metadata": {"labels": {"app": "plain"}}, "spec": {
                     "containers": [{"name": "web", "command": COMMAND}]}}}}))
    kubectl("wait", "--for=condition=Available", "deployment/plain")
    kubectl("scale", "deployment", "plain", "--replicas=2")
    until("two are ready", lambda: apps.read_namespaced_deployment(
        "plain", "default").status.ready_replicas == 2)
    has(kubectl("describe", "deployment", "plain"), " from 1 to 2")
    kubectl("rollout", "status", "deployment/plain")
    scale = apps.read_namespaced_deployment_scale("plain", "default")
    scale.spec.replicas = 0
    apps.replace_namespaced_deployment_scale("plain", "default", scale)
    until("none is left", lambda: not core.list_namespaced_pod(
        "default", label_selector="app=plain").items)


def hosts():
    create("hosts")
    for host in ("hosts.default.localhost", "HOSTS.Default.LOCALHOST:%d" % PORT,
                 "hosts.default.localhost.", "hosts.default.svc.cluster.local"):
        assert get(host)[0] == 200, (host, get(host))
    status, body = get("nobody.default.localhost")
    assert status == 404, status
    has(body, "hosts.default.localhost")


PARTS = [logs, environment, takeover, sixty, scaling, probes, told_apart, warnings, commands,
         deployments, hosts]


def main():
    chosen = sys.argv[4:]
    failed = 0
    for part in PARTS:
        if chosen and part.__name__ not in chosen:
            continue
        begun = time.monotonic()
        try:
            part()
            print("ok     %s (%.1f s)" % (part.__name__, time.monotonic() - begun), flush=True)
        except Exception:
            failed += 1
            print("FAILED %s\n%s" % (part.__name__, traceback.format_exc()), flush=True)
    sys.exit(1 if failed else 0)


main()
