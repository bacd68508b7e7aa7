"""The calls of Kubernetes' Python client: each row is a line of JSON, its title and what the program saw."""
import json
import os
import threading
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

config.load_kube_config(os.environ["KUBECONFIG"])
NS = "python"
core, apps, coordination, custom, definitions = client.CoreV1Api(), client.AppsV1Api(), client.CoordinationV1Api(), client.CustomObjectsApi(), client.ApiextensionsV1Api()
api = core.api_client


def row(title, value):
    print(json.dumps([title, api.sanitize_for_serialization(value)]), flush=True)


def call(title, action):
    try:
        answer = action()
        row(title, {"value": answer.to_dict() if isinstance(answer, dynamic.resource.ResourceInstance) else answer})
        return answer
    except ApiException as e:
        row(title, {"status": e.status, "reason": e.reason, "body": json.loads(e.body) if e.body else None})
    except Exception as e:
        row(title, {"error": type(e).__name__ + ": " + str(e)[:200]})


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"it": "yes"}}, "data": data or {"k": "v"}}


core.create_namespace({"metadata": {"name": NS}})
call("create", lambda: core.create_namespaced_config_map(NS, config_map("a")))
call("create again", lambda: core.create_namespaced_config_map(NS, config_map("a")))
call("create, dry run", lambda: core.create_namespaced_config_map(NS, config_map("dry"), dry_run="All"))
call("create, invalid name", lambda: core.create_namespaced_config_map(NS, config_map("UPPER")))
call("create, pretty", lambda: core.create_namespaced_config_map(NS, config_map("pretty"), pretty="true"))
call("read missing", lambda: core.read_namespaced_config_map("missing", NS))
call("patch, a dict", lambda: core.patch_namespaced_config_map("a", NS, {"data": {"p": "1"}}))
call("patch, a list", lambda: core.patch_namespaced_config_map("a", NS, [{"op": "add", "path": "/data/l", "value": "1"}]))
call("patch, as a field manager", lambda: core.patch_namespaced_config_map("a", NS, {"data": {"m": "1"}}, field_manager="python"))
call("replace, old version", lambda: core.replace_namespaced_config_map("a", NS, {"metadata": {"name": "a", "resourceVersion": "1"}}))
for number in range(3):
    core.create_namespaced_config_map(NS, config_map(f"l{number}"))
page = call("list, first page", lambda: core.list_namespaced_config_map(NS, label_selector="it=yes", limit=2))
call("list, second page", lambda: core.list_namespaced_config_map(NS, label_selector="it=yes", limit=2, _continue=page.metadata._continue))
call("list, exactly", lambda: core.list_namespaced_config_map(NS, label_selector="it=yes", resource_version=page.metadata.resource_version, resource_version_match="Exact", limit=1))
call("list, unknown match", lambda: core.list_namespaced_config_map(NS, resource_version_match="Exact"))


def watched(title, action=lambda: None, **options):
    seen = []
    threading.Timer(0.3, action).start()
    try:
        for event in watch.Watch().stream(core.list_namespaced_config_map, NS, **options):
            seen.append([event["type"], getattr(event["object"].metadata, "name", None)])
        row(title, {"seen": seen, "end": "by the server"})
    except ApiException as e:
        row(title, {"seen": seen, "status": e.status, "reason": e.reason})


watched("watch", lambda: core.delete_namespaced_config_map("l2", NS), label_selector="it=yes", timeout_seconds=2)
watched("watch, from version 0", label_selector="it=yes", timeout_seconds=1, resource_version="0")
watched("watch, too old", label_selector="it=yes", timeout_seconds=1, resource_version="1")
template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "x", "command": ["sleep", "1"]}]}}
deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 0, "paused": True, "selector": {"matchLabels": {"app": "d"}}, "template": template}}
call("deployment", lambda: apps.create_namespaced_deployment(NS, deployment))
call("scale, read", lambda: apps.read_namespaced_deployment_scale("d", NS))
call("scale, patch", lambda: apps.patch_namespaced_deployment_scale("d", NS, {"spec": {"replicas": 0}}))
call("status, patch", lambda: apps.patch_namespaced_deployment_status("d", NS, {"status": {"replicas": 0}}))
call("delete, foreground", lambda: apps.delete_namespaced_deployment("d", NS, propagation_policy="Foreground"))
now = "2026-01-01T00:00:00.123456Z"
call("lease", lambda: coordination.create_namespaced_lease(NS, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a", "renewTime": now}}))
call("lease, read and replaced", lambda: coordination.replace_namespaced_lease("l", NS, coordination.read_namespaced_lease("l", NS)))
call("definition", lambda: definitions.create_custom_resource_definition({"metadata": {"name": "toys.python.example.org"}, "spec": {
    "group": "python.example.org", "scope": "Namespaced", "names": {"plural": "toys", "singular": "toy", "kind": "Toy"},
    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}))
time.sleep(2)
toy = ("python.example.org", "v1", NS, "toys")
call("custom, create", lambda: custom.create_namespaced_custom_object(*toy, {"apiVersion": "python.example.org/v1", "kind": "Toy", "metadata": {"name": "t"}, "spec": {"a": 1}}))
call("custom, patch with a dict", lambda: custom.patch_namespaced_custom_object(*toy, "t", {"spec": {"a": 2}}))
call("custom, patch with a list", lambda: custom.patch_namespaced_custom_object(*toy, "t", [{"op": "replace", "path": "/spec/a", "value": 3}]))
call("custom, list", lambda: custom.list_namespaced_custom_object(*toy))
call("custom, delete", lambda: custom.delete_namespaced_custom_object(*toy, "t"))

some = dynamic.DynamicClient(api)
maps = some.resources.get(api_version="v1", kind="ConfigMap")
call("dynamic, apply", lambda: maps.server_side_apply(body=config_map("dynamic"), namespace=NS, name="dynamic", field_manager="dynamic"))
call("dynamic, apply in conflict", lambda: maps.server_side_apply(body=config_map("dynamic", k="w"), namespace=NS, name="dynamic", field_manager="other"))
call("dynamic, patch", lambda: maps.patch(body={"data": {"d": "1"}}, namespace=NS, name="dynamic"))
call("dynamic, merge patch", lambda: maps.patch(body={"data": {"d": "2"}}, namespace=NS, name="dynamic", content_type="application/merge-patch+json"))
call("dynamic, list", lambda: maps.get(namespace=NS, label_selector="it=yes", limit=1))
call("dynamic, delete", lambda: maps.delete(namespace=NS, name="dynamic"))
call("dynamic, by short name", lambda: some.resources.get(short_names=["cm"]).kind)
call("dynamic, unknown kind", lambda: some.resources.get(api_version="v1", kind="Nothing"))
call("from YAML", lambda: [one.metadata.name for one in utils.create_from_dict(api, config_map("yaml"), namespace=NS)])
call("from YAML, again", lambda: utils.create_from_dict(api, config_map("yaml"), namespace=NS))
elected = []
lock = ConfigMapLock("leader", NS, "one")
election = leaderelection.LeaderElection(electionconfig.Config(lock, lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=lambda: elected.append("led"), onstopped_leading=None))
threading.Thread(target=election.run, daemon=True).start()
time.sleep(1.5)
row("leader election", {"elected": elected, "annotations": list(core.read_namespaced_config_map("leader", NS).metadata.annotations)})
answer = call("delete a collection", lambda: core.delete_collection_namespaced_config_map(NS, label_selector="it=yes"))
definitions.delete_custom_resource_definition("toys.python.example.org")
os._exit(0)
