"""The same calls as raw HTTP: each is a row."""
from recorder import APPLY, JSON, JSON_PATCH, MERGE, STRATEGIC, TABLE

NS = "/api/v1/namespaces/raw"
MAPS, SECRETS, PODS, SERVICES, ENDPOINTS = (f"{NS}/{plural}" for plural in ("configmaps", "secrets", "pods", "services", "endpoints"))
LEASES = "/apis/coordination.k8s.io/v1/namespaces/raw/leases"
DEPLOYMENTS, SETS = (f"/apis/apps/v1/namespaces/raw/{plural}" for plural in ("deployments", "replicasets"))
SLICES = "/apis/discovery.k8s.io/v1/namespaces/raw/endpointslices"
SCALERS = "/apis/autoscaling/v2/namespaces/raw/horizontalpodautoscalers"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Added to a version: a future one.
FAR = 1_000_000
THINGS = "/apis/beside.example.org/v1/namespaces/raw/things"


def config_map(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {"k": "v"}}


def lease(name, holder="it", **metadata):
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, **metadata}, "spec": {"holderIdentity": holder}}


def deployment(name, replicas=0, **spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [{"name": "c", "image": "python", "command": ["python3", "-m", "http.server", "$(PORT)"]}]}}, **spec}}


def service(name, **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}], "selector": {"app": name}, **spec}}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
            "spec": {"containers": [{"name": "c", "image": "python", "command": ["sleep", "1"]}], **spec}}


def discovery(it):
    it.call("discovery: versions", "GET", "/version")
    for path in ("/healthz", "/livez", "/readyz", "/readyz?verbose", "/healthz/ping", "/metrics-of-nothing"):
        it.call("discovery: " + path, "GET", path, accept=None)
    for path in ("/api", "/apis/apps", "/apis/coordination.k8s.io", "/apis/nothing.example.org", "/apis/apps/v2", "/api/v2", "/nothing"):
        it.call("discovery: " + path, "GET", path)
    it.call("discovery: resources of a group", "GET", "/apis/coordination.k8s.io/v1")
    it.call("discovery: POST to a group", "POST", "/apis/apps/v1", {})
    it.call("discovery: unknown kind", "GET", NS + "/nothings")
    it.call("discovery: unknown subresource", "GET", MAPS + "/a/nothing")
    it.call("discovery: scale of a kind without it", "GET", MAPS + "/a/scale")


def objects(it):
    it.call("namespace: create", "POST", "/api/v1/namespaces", {"metadata": {"name": "raw"}})
    it.call("namespace: create again", "POST", "/api/v1/namespaces", {"metadata": {"name": "raw"}})
    it.call("namespace: get", "GET", "/api/v1/namespaces/raw")
    made = it.call("create: a config map", "POST", MAPS, config_map("a", labels={"it": "yes"}))
    it.call("create: again", "POST", MAPS, config_map("a"))
    it.call("create: without kind and version", "POST", MAPS, {"metadata": {"name": "bare"}, "data": {"k": "v"}})
    it.call("create: YAML", "POST", MAPS, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {k: v}\n", type="application/yaml")
    it.call("create: answer in YAML", "GET", MAPS + "/yaml", accept="application/yaml")
    it.call("create: generateName", "POST", MAPS, {"metadata": {"generateName": "gen-"}})
    it.call("create: with resourceVersion", "POST", MAPS, config_map("versioned", resourceVersion="1"))
    it.call("create: with uid", "POST", MAPS, config_map("with-uid", uid="00000000-0000-0000-0000-000000000000"))
    it.call("create: another namespace in the body", "POST", MAPS, config_map("other", namespace="default"))
    it.call("create: no name", "POST", MAPS, {"metadata": {}})
    it.call("create: name in upper case", "POST", MAPS, config_map("UPPER"))
    it.call("create: name that is too long", "POST", MAPS, config_map("x" * 254))
    it.call("create: invalid label", "POST", MAPS, config_map("label", labels={"a b": "c d"}))
    it.call("create: invalid annotation", "POST", MAPS, config_map("annotation", annotations={"-x": "y"}))
    it.call("create: invalid key", "POST", MAPS, config_map("key", {"a/b": "c"}))
    it.call("create: number as data", "POST", MAPS, config_map("number", {"k": 1}))
    it.call("create: labels that are a list", "POST", MAPS, config_map("list", labels=["a"]))
    it.call("create: another kind", "POST", MAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
    it.call("create: another version", "POST", MAPS, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "s"}})
    it.call("create: broken JSON", "POST", MAPS, '{"metadata": ')
    it.call("create: empty body", "POST", MAPS, "")
    it.call("create: a list as body", "POST", MAPS, [])
    it.call("create: null", "POST", MAPS, "null")
    it.call("create: unknown type", "POST", MAPS, "x", type="text/plain")
    it.call("create: unacceptable type", "GET", MAPS + "/a", accept="text/html")
    it.call("create: unknown field, Strict", "POST", MAPS + "?fieldValidation=Strict", {**config_map("strict"), "dota": {}})
    it.call("create: unknown field, Warn", "POST", MAPS + "?fieldValidation=Warn", {**config_map("warn"), "dota": {}})
    it.call("create: unknown field, Ignore", "POST", MAPS + "?fieldValidation=Ignore", {**config_map("ignore"), "dota": {}})
    it.call("create: unknown fieldValidation", "POST", MAPS + "?fieldValidation=Maybe", config_map("maybe"))
    it.call("create: a field twice, Strict", "POST", MAPS + "?fieldValidation=Strict", '{"metadata": {"name": "twice"}, "data": {"k": "1"}, "data": {"k": "2"}}')
    it.call("create: dry run", "POST", MAPS + "?dryRun=All", config_map("dry"))
    it.call("create: dry run left nothing", "GET", MAPS + "/dry")
    it.call("create: unknown dry run", "POST", MAPS + "?dryRun=Some", config_map("dry"))
    it.call("create: pretty", "GET", MAPS + "/a?pretty=true")
    it.call("create: field manager too long", "POST", MAPS + "?fieldManager=" + "m" * 129, config_map("manager"))
    it.call("create: owner without uid", "POST", MAPS, config_map("owned", ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}]))
    it.call("create: two controllers", "POST", MAPS, config_map("owned", ownerReferences=[
        {"apiVersion": "v1", "kind": "ConfigMap", "name": n, "uid": n, "controller": True} for n in "ab"]))
    it.call("create: finalizer without a domain", "POST", MAPS, config_map("final", finalizers=["nothing"]))
    it.call("create: in a namespace that is missing", "POST", "/api/v1/namespaces/missing/secrets", {"metadata": {"name": "s"}})
    it.call("create: immutable", "POST", MAPS, {**config_map("immutable"), "immutable": True})
    it.call("update: immutable", "PUT", MAPS + "/immutable", {**config_map("immutable", {"k": "w"}), "immutable": True})
    it.call("get: missing", "GET", MAPS + "/missing")
    it.call("get: resourceVersion=0", "GET", MAPS + "/a?resourceVersion=0")
    it.call("get: a future version", "GET", f"{MAPS}/a?resourceVersion={int(made['metadata.resourceVersion']) + FAR}")
    it.call("get: an invalid version", "GET", MAPS + "/a?resourceVersion=x")
    it.call("get: Table", "GET", MAPS + "/a", accept=TABLE)
    it.call("get: only metadata", "GET", MAPS + "/a", accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    it.call("get: HEAD", "HEAD", MAPS + "/a")
    it.call("get: OPTIONS", "OPTIONS", MAPS + "/a")
    it.call("update: without a version", "PUT", MAPS + "/a", config_map("a", {"k": "2"}, labels={"it": "yes"}))
    it.call("update: with an old version", "PUT", MAPS + "/a", config_map("a", {"k": "3"}, resourceVersion=made["metadata.resourceVersion"]))
    it.call("update: with an invalid version", "PUT", MAPS + "/a", config_map("a", {"k": "3"}, resourceVersion="x"))
    it.call("update: with another uid", "PUT", MAPS + "/a", config_map("a", {"k": "3"}, uid="00000000-0000-0000-0000-000000000000"))
    it.call("update: another name in the body", "PUT", MAPS + "/a", config_map("b"))
    it.call("update: no name in the body", "PUT", MAPS + "/a", {"data": {}})
    it.call("update: missing", "PUT", MAPS + "/missing", config_map("missing"))
    same = it.call("", "GET", MAPS + "/a")
    again = it.call("update: nothing changes", "PUT", MAPS + "/a", same.body)
    it.record("update: nothing changes, and the version stays", {"same": again["metadata.resourceVersion"] == same["metadata.resourceVersion"]})
    it.call("update: dry run", "PUT", MAPS + "/a?dryRun=All", config_map("a", {"k": "dry"}))
    it.call("update: POST to an object", "POST", MAPS + "/a", config_map("a"))
    it.call("update: PUT to the collection", "PUT", MAPS, config_map("a"))
    it.call("create: secret with stringData", "POST", SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    it.call("create: secret that is no base64", "POST", SECRETS, {"metadata": {"name": "t"}, "data": {"k": "%"}})
    it.call("update: type of a secret", "PUT", SECRETS + "/s", {"metadata": {"name": "s"}, "type": "kubernetes.io/tls", "data": {}})


def lists(it):
    for number in range(5):
        answer = it.call("", "POST", LEASES, lease(f"l{number}", labels={"even": str(number % 2 == 0).lower(), f"n{number}": ""}))
    version = answer["metadata.resourceVersion"]
    it.call("list: all", "GET", LEASES)
    it.call("list: empty", "GET", "/apis/coordination.k8s.io/v1/namespaces/nothing-here/leases")
    first = it.call("list: limit=2", "GET", LEASES + "?limit=2")
    it.call("", "POST", LEASES, lease("z-later"))
    second = it.call("list: limit=2, second page, without what was created between them", "GET", f"{LEASES}?limit=2&continue={first['metadata.continue']}")
    it.record("list: both pages are of one version", {"same": first["metadata.resourceVersion"] == second["metadata.resourceVersion"]})
    it.call("list: third page", "GET", f"{LEASES}?limit=2&continue={second['metadata.continue']}")
    it.call("list: continue with another limit", "GET", f"{LEASES}?limit=500&continue={first['metadata.continue']}")
    it.call("list: continue and a version", "GET", f"{LEASES}?limit=2&resourceVersion={version}&continue={first['metadata.continue']}")
    it.call("list: continue that is none", "GET", LEASES + "?limit=2&continue=abc")
    it.call("list: limit and a selector", "GET", LEASES + "?limit=2&labelSelector=even%3Dtrue")
    it.call("list: limit=-1", "GET", LEASES + "?limit=-1")
    it.call("list: limit=x", "GET", LEASES + "?limit=x")
    it.call("list: limit=0", "GET", LEASES + "?limit=0")
    it.call("list: resourceVersion=0 and limit=2", "GET", LEASES + "?resourceVersion=0&limit=2")
    it.call("list: an older version", "GET", f"{LEASES}?resourceVersion={version}")
    it.call("list: exactly an older version", "GET", f"{LEASES}?resourceVersion={version}&resourceVersionMatch=Exact")
    it.call("list: exactly an older version, limit=2", "GET", f"{LEASES}?resourceVersion={version}&resourceVersionMatch=Exact&limit=2")
    it.call("list: not older than a version", "GET", f"{LEASES}?resourceVersion={version}&resourceVersionMatch=NotOlderThan")
    it.call("list: exactly version 1", "GET", LEASES + "?resourceVersion=1&resourceVersionMatch=Exact")
    it.call("list: exactly version 0", "GET", LEASES + "?resourceVersion=0&resourceVersionMatch=Exact")
    it.call("list: match without a version", "GET", LEASES + "?resourceVersionMatch=Exact")
    it.call("list: unknown match", "GET", f"{LEASES}?resourceVersion={version}&resourceVersionMatch=Maybe")
    it.call("list: a future version", "GET", f"{LEASES}?resourceVersion={int(version) + FAR}")
    it.call("list: exactly a future version", "GET", f"{LEASES}?resourceVersion={int(version) + FAR}&resourceVersionMatch=Exact")
    it.call("list: an invalid version", "GET", LEASES + "?resourceVersion=x")
    it.call("list: sendInitialEvents without watch", "GET", LEASES + "?sendInitialEvents=true")
    for selector in ("even=true", "even==false", "even!=true", "even in (true,false)", "even notin (true)", "even", "!even", "even=true,n0", "n4=",
                     "even>1", "n0 in ()", "a b", "=x", "even=true,", "even=" + "x" * 64, "kubernetes.io/a/b=c"):
        it.call("list: labels " + selector[:20], "GET", LEASES + "?labelSelector=" + selector.replace("=", "%3D"))
    for selector in ("metadata.name=l1", "metadata.name!=l1", "metadata.namespace=raw", "metadata.namespace=other", "metadata.name=l1,metadata.namespace=raw",
                     "spec.holderIdentity=it", "metadata.name", "metadata.name in (l1)", "metadata.name=l1,metadata.name=l2", ""):
        it.call("list: fields " + selector, "GET", LEASES + "?fieldSelector=" + selector.replace("=", "%3D"))
    it.call("list: fields of all namespaces", "GET", "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3Draw&limit=2")
    it.call("list: Table", "GET", LEASES + "?limit=2", accept=TABLE)
    it.call("list: Table with whole objects", "GET", LEASES + "?limit=1&includeObject=Object", accept=TABLE)
    it.call("list: Table without objects", "GET", LEASES + "?limit=1&includeObject=None", accept=TABLE)
    it.call("list: Table, unknown includeObject", "GET", LEASES + "?includeObject=Some", accept=TABLE)
    it.call("list: only metadata", "GET", LEASES + "?limit=1", accept="application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
    it.call("list: unknown transformation", "GET", LEASES, accept="application/json;as=Chair;v=v1;g=meta.k8s.io")
    it.call("list: protobuf or JSON", "GET", SECRETS + "?limit=1", accept="application/json,application/vnd.kubernetes.protobuf;q=0.5")
    it.call("list: unknown parameter", "GET", LEASES + "?limit=1&chair=1")
    it.call("list: timeoutSeconds=x", "GET", LEASES + "?timeoutSeconds=x")
    it.call("list: pods by phase", "GET", PODS + "?fieldSelector=status.phase%3DRunning,spec.nodeName%3Dn")
    it.call("list: pods by an unknown field", "GET", PODS + "?fieldSelector=spec.image%3Dn")
    it.call("list: secrets by type", "GET", SECRETS + "?fieldSelector=type%3DOpaque")
    for kind, path in (("config maps", MAPS), ("secrets", SECRETS), ("services", SERVICES), ("pods", PODS), ("deployments", DEPLOYMENTS), ("endpoints", ENDPOINTS),
                       ("slices", SLICES), ("replica sets", SETS), ("scalers", SCALERS), ("events", NS + "/events")):
        it.call("list: empty Table of " + kind, "GET", path + "?labelSelector=no%3Done", accept=TABLE)


def watches(it):
    def put(name, holder, **metadata):
        return lambda: it.call("", "PUT", f"{LEASES}/{name}", lease(name, holder, **metadata))

    def post(name, **metadata):
        return lambda: it.call("", "POST", LEASES, lease(name, **metadata))

    def delete(name):
        return lambda: it.call("", "DELETE", f"{LEASES}/{name}")
    it.call("", "DELETE", LEASES)
    for number in range(3):
        it.call("", "POST", LEASES, lease(f"w{number}", labels={"even": str(number % 2 == 0).lower()}))
    version = it.call("", "GET", LEASES)["metadata.resourceVersion"]
    it.watch("watch: without a version", LEASES + "?watch=1", put("w0", "other", labels={"even": "true"}), delete("w2"), events=5)
    it.watch("watch: from version 0", LEASES + "?watch=1&resourceVersion=0", post("w2"), events=4)
    it.watch("watch: from a list", f"{LEASES}?watch=1&resourceVersion={version}", events=3)
    it.watch("watch: into and out of a label selector", f"{LEASES}?watch=1&resourceVersion={version}&labelSelector=even%3Dtrue",
             put("w1", "it", labels={"even": "true"}), put("w1", "it", labels={"even": "false"}), events=4)
    it.watch("watch: field selector", LEASES + "?watch=1&fieldSelector=metadata.name%3Dw1", put("w1", "third"), delete("w1"), events=3)
    it.watch("watch: of one object by the old path", "/apis/coordination.k8s.io/v1/watch/namespaces/raw/leases/w0", put("w0", "fourth"), events=2)
    it.watch("watch: of one object", LEASES + "/w0?watch=1", put("w0", "fifth"), events=2)
    it.watch("watch: sendInitialEvents", LEASES + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
             put("w0", "sixth"), events=4)
    it.watch("watch: sendInitialEvents from version 0", LEASES + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0", events=3)
    it.watch("watch: sendInitialEvents of nothing", LEASES + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=no", events=1)
    it.watch("watch: sendInitialEvents without bookmarks", LEASES + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", events=3, seconds=2)
    it.watch("watch: sendInitialEvents without a match", LEASES + "?watch=1&sendInitialEvents=true", events=1)
    it.watch("watch: sendInitialEvents=false", LEASES + "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", put("w0", "seventh"), events=1)
    it.watch("watch: sendInitialEvents, exactly", f"{LEASES}?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion={version}", events=1)
    it.watch("watch: a match without sendInitialEvents", LEASES + "?watch=1&resourceVersionMatch=NotOlderThan", events=1)
    it.watch("watch: sendInitialEvents=maybe", LEASES + "?watch=1&sendInitialEvents=maybe&resourceVersionMatch=NotOlderThan", events=1, seconds=2)
    it.watch("watch: from a version that is too old", LEASES + "?watch=1&resourceVersion=1", events=1)
    it.watch("watch: from a future version", f"{LEASES}?watch=1&resourceVersion={int(version) + FAR}", put("w0", "eighth"), events=1, seconds=5)
    it.watch("watch: from an invalid version", LEASES + "?watch=1&resourceVersion=x", events=1)
    it.watch("watch: timeoutSeconds=1", LEASES + "?watch=1&timeoutSeconds=1")
    it.watch("watch: timeoutSeconds=1, periodic bookmarks", LEASES + "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true")
    it.watch("watch: limit", LEASES + "?watch=1&limit=1&timeoutSeconds=1")
    it.watch("watch: continue", LEASES + "?watch=1&continue=abc&timeoutSeconds=1", events=1)
    it.watch("watch: watch=false", LEASES + "?watch=false&limit=1", events=1)
    it.watch("watch: an unknown label syntax", LEASES + "?watch=1&labelSelector=a%20b", events=1)
    it.watch("watch: an unknown field", LEASES + "?watch=1&fieldSelector=a%3Db", events=1)
    it.watch("watch: Table", LEASES + "?watch=1", put("w0", "ninth"), events=3, accept=TABLE)
    it.watch("watch: Table with sendInitialEvents", LEASES + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", put("w0", "tenth"), events=4, accept=TABLE)
    it.watch("watch: Table, periodic bookmark in it", LEASES + "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&labelSelector=no", accept=TABLE)
    it.watch("watch: only metadata", LEASES + "?watch=1", events=2, accept="application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    it.watch("watch: accepts a stream", LEASES + "?watch=1", events=1, accept="application/json;stream=watch")
    it.watch("watch: of a kind that is missing", NS + "/nothings?watch=1", events=1)
    it.watch("watch: POST", NS + "/configmaps?watch=1&timeoutSeconds=1&labelSelector=no")
    it.call("delete: a collection during a watch, prepared", "GET", LEASES + "?limit=1")
    it.watch("watch: deletion of a collection", LEASES + "?watch=1", lambda: it.call("", "DELETE", LEASES), events=4)


def patches(it):
    it.call("", "POST", MAPS, config_map("p", {"a": "1", "b": "2"}))
    path = MAPS + "/p"
    for title, operations in {
            "add and replace": [{"op": "add", "path": "/data/c", "value": "3"}, {"op": "replace", "path": "/data/a", "value": "9"}],
            "test that holds": [{"op": "test", "path": "/data/c", "value": "3"}, {"op": "remove", "path": "/data/c"}],
            "test that fails": [{"op": "test", "path": "/data/a", "value": "0"}, {"op": "remove", "path": "/data/a"}],
            "test of what is missing": [{"op": "test", "path": "/data/zz", "value": "0"}],
            "test that null is missing": [{"op": "test", "path": "/data/zz", "value": None}],
            "remove what is missing": [{"op": "remove", "path": "/data/zz"}],
            "replace what is missing": [{"op": "replace", "path": "/data/zz", "value": "1"}],
            "add below what is missing": [{"op": "add", "path": "/metadata/labels/x", "value": "y"}],
            "move": [{"op": "move", "from": "/data/b", "path": "/data/moved"}],
            "copy": [{"op": "copy", "from": "/data/moved", "path": "/data/copied"}],
            "copy what is missing": [{"op": "copy", "from": "/data/zz", "path": "/data/y"}],
            "an escaped name": [{"op": "add", "path": "/metadata/annotations", "value": {"a.example.org/b": "c"}}, {"op": "replace", "path": "/metadata/annotations/a.example.org~1b", "value": "d"}],
            "an unknown operation": [{"op": "jump", "path": "/data/a"}],
            "no operations": [],
            "an object": {"op": "add"},
            "add the whole": [{"op": "add", "path": "", "value": {}}],
            "a number into data": [{"op": "add", "path": "/data/n", "value": 1}],
            "change the name": [{"op": "replace", "path": "/metadata/name", "value": "q"}],
            "change the namespace": [{"op": "replace", "path": "/metadata/namespace", "value": "q"}],
            "change the kind": [{"op": "replace", "path": "/kind", "value": "Secret"}],
            "an old version": [{"op": "add", "path": "/metadata/resourceVersion", "value": "1"}]}.items():
        it.call("json patch: " + title, "PATCH", path, operations, type=JSON_PATCH)
    it.call("json patch: broken", "PATCH", path, "[", type=JSON_PATCH)
    it.call("json patch: of what is missing", "PATCH", MAPS + "/missing", [], type=JSON_PATCH)
    for title, patch in {
            "set and delete": {"data": {"a": "7", "copied": None}},
            "delete what is missing": {"data": {"zz": None}},
            "nothing": {},
            "all data": {"data": None},
            "null in a list": {"metadata": {"finalizers": None}},
            "labels": {"metadata": {"labels": {"a": "b"}}},
            "invalid labels": {"metadata": {"labels": {"a": "b c"}}},
            "another name": {"metadata": {"name": "q"}},
            "another uid": {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}},
            "an old version": {"metadata": {"resourceVersion": "1"}},
            "an unknown field": {"dota": {"a": "b"}},
            "a list": [],
            "of the wrong type": {"data": "x"}}.items():
        it.call("merge patch: " + title, "PATCH", path, patch, type=MERGE)
    it.call("merge patch: unknown field, Strict", "PATCH", path + "?fieldValidation=Strict", {"dota": {}}, type=MERGE)
    it.call("merge patch: dry run", "PATCH", path + "?dryRun=All", {"data": {"dry": "1"}}, type=MERGE)
    it.call("merge patch: of what is missing", "PATCH", MAPS + "/missing", {"data": {}}, type=MERGE)
    it.call("merge patch: field manager", "PATCH", path + "?fieldManager=me", {"data": {"mine": "1"}}, type=MERGE)
    it.call("merge patch: force", "PATCH", path + "?force=true", {"data": {"mine": "2"}}, type=MERGE)
    it.call("patch: without a type of patch", "PATCH", path, {"data": {}}, type=JSON)
    it.call("patch: an unknown type", "PATCH", path, {"data": {}}, type="application/x-patch")
    it.call("patch: of a collection", "PATCH", MAPS, {"data": {}}, type=MERGE)
    it.call("", "POST", DEPLOYMENTS, deployment("s", paused=True))
    path = DEPLOYMENTS + "/s"
    def template(**spec):
        return {"spec": {"template": {"spec": spec}}}
    for title, patch in {
            "a container by its name": template(containers=[{"name": "c", "image": "other"}]),
            "a second container": template(containers=[{"name": "d", "image": "second"}]),
            "delete by its name": template(containers=[{"name": "d", "$patch": "delete"}]),
            "environment by its name": template(containers=[{"name": "c", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]),
            "one variable deleted": template(containers=[{"name": "c", "env": [{"name": "A", "$patch": "delete"}]}]),
            "a list that is replaced": template(containers=[{"name": "c", "command": ["sleep", "1"]}]),
            "ports by port and protocol": template(containers=[{"name": "c", "ports": [{"containerPort": 80, "name": "a"}]}]),
            "order": template(**{"$setElementOrder/containers": [{"name": "d"}, {"name": "c"}], "containers": [{"name": "d", "image": "x"}]}),
            "replace all": template(containers=[{"$patch": "replace"}, {"name": "c", "image": "only", "command": ["sleep", "2"]}]),
            "delete from a set of values": {"metadata": {"finalizers": ["example.org/a", "example.org/b"]}},
            "a value deleted from it": {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/a", "example.org/b"]}},
            "retained keys": {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
            "replace an object": {"metadata": {"labels": {"$patch": "replace", "only": "this"}}},
            "an unknown directive": {"metadata": {"labels": {"$patch": "jump"}}},
            "a container without its key": template(containers=[{"image": "x"}]),
            "the selector": {"spec": {"selector": {"matchLabels": {"app": "x"}}}},
            "labels of the template that do not match": {"spec": {"template": {"metadata": {"labels": {"app": "x"}}}}},
            "negative replicas": {"spec": {"replicas": -1}},
            "replicas as text": {"spec": {"replicas": "2"}},
            "an unknown field": template(chair=1)}.items():
        it.call("strategic patch: " + title, "PATCH", path, patch, type=STRATEGIC)
    it.call("strategic patch: status by the main path", "PATCH", path, {"status": {"replicas": 7}}, type=STRATEGIC)
    it.call("strategic patch: status", "PATCH", path + "/status", {"status": {"observedGeneration": 1}, "spec": {"replicas": 5}}, type=STRATEGIC)


def apply(it):
    def put(title, manager, data, path=MAPS + "/applied", **options):
        query = f"?fieldManager={manager}" + options.pop("query", "")
        return it.call(title and "apply: " + title, "PATCH", path + query, {"apiVersion": "v1", "kind": "ConfigMap", **data}, type=APPLY, **options)
    it.call("apply: without a field manager", "PATCH", MAPS + "/applied", config_map("applied"), type=APPLY)
    put("create", "one", {"metadata": {"name": "applied"}, "data": {"a": "1", "b": "1"}})
    put("again", "one", {"metadata": {"name": "applied"}, "data": {"a": "1", "b": "1"}})
    put("a field less", "one", {"metadata": {"name": "applied"}, "data": {"a": "1"}})
    put("another manager, other fields", "two", {"data": {"c": "2"}})
    put("another manager, the same value", "two", {"data": {"a": "1", "c": "2"}})
    put("conflict", "two", {"data": {"a": "2", "c": "2"}})
    put("conflict in two fields", "three", {"data": {"a": "3", "c": "3"}})
    put("force", "two", {"data": {"a": "2", "c": "2"}}, query="&force=true")
    put("the first manager again", "one", {"data": {"a": "1"}})
    it.call("apply: an update takes fields over", "PATCH", MAPS + "/applied?fieldManager=editor", {"data": {"c": "9"}}, type=MERGE)
    put("conflict with an update", "two", {"data": {"a": "2", "c": "2"}})
    put("gives up its fields", "two", {"metadata": {"labels": {"l": "1"}}})
    put("dry run", "four", {"data": {"dry": "1"}}, query="&dryRun=All")
    put("with managedFields", "one", {"metadata": {"managedFields": [{"manager": "x"}]}})
    put("an old version", "one", {"metadata": {"resourceVersion": "1"}, "data": {"a": "1"}})
    put("a version of what is missing", "one", {"metadata": {"resourceVersion": "1"}, "data": {}}, path=MAPS + "/applied-missing")
    put("a uid of what is missing", "one", {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}, "data": {}}, path=MAPS + "/applied-missing")
    put("another name", "one", {"metadata": {"name": "else"}})
    put("null", "one", {"data": {"a": None}})
    put("an unknown field", "one", {"dota": {}})
    put("an unknown field, Strict", "one", {"dota": {}}, query="&fieldValidation=Strict")
    put("forced twice", "one", {"data": {}}, query="&force=maybe")
    it.call("apply: without kind", "PATCH", MAPS + "/applied?fieldManager=one", {"data": {}}, type=APPLY)
    it.call("apply: YAML", "PATCH", MAPS + "/applied?fieldManager=one&force=true", "apiVersion: v1\nkind: ConfigMap\ndata:\n  yaml: 'yes'\n", type=APPLY)
    it.call("apply: broken YAML", "PATCH", MAPS + "/applied?fieldManager=one", "a: [", type=APPLY)
    it.call("apply: JSON as CBOR's sibling", "PATCH", MAPS + "/applied?fieldManager=one", {}, type="application/apply-patch+cbor")
    it.call("apply: managedFields emptied", "PATCH", MAPS + "/applied", {"metadata": {"managedFields": [{}]}}, type=MERGE)
    put("after they were emptied", "one", {"data": {"a": "5"}})
    path = DEPLOYMENTS + "/d"
    body = deployment("d")
    it.call("apply: deployment", "PATCH", path + "?fieldManager=one", body, type=APPLY)
    it.call("apply: a container of another manager", "PATCH", path + "?fieldManager=two",
            {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "x", "env": [{"name": "A", "value": "1"}]}]}}}}, type=APPLY)
    it.call("apply: conflict in a container", "PATCH", path + "?fieldManager=two",
            {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x"}]}}}}, type=APPLY)
    it.call("apply: the container again without it", "PATCH", path + "?fieldManager=two", {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}, type=APPLY)
    it.call("apply: the same container twice", "PATCH", path + "?fieldManager=two",
            {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"name": "t", "image": "x"}, {"name": "t", "image": "y"}]}}}}, type=APPLY)
    it.call("apply: status", "PATCH", path + "/status?fieldManager=st", {"apiVersion": "apps/v1", "kind": "Deployment", "status": {"collisionCount": 3}}, type=APPLY)
    it.call("apply: scale", "PATCH", path + "/scale?fieldManager=hpa", {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 0}}, type=APPLY)
    it.call("apply: scale in conflict", "PATCH", path + "/scale?fieldManager=hpa", {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 1}}, type=APPLY)
    it.call("apply: of a lease", "PATCH", LEASES + "/applied?fieldManager=one", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holderIdentity": "x"}}, type=APPLY)


def scales(it):
    it.call("", "POST", DEPLOYMENTS, deployment("scaled", paused=True))
    path = DEPLOYMENTS + "/scaled/scale"
    got = it.call("scale: get", "GET", path)
    it.call("scale: get of what is missing", "GET", DEPLOYMENTS + "/missing/scale")
    it.call("scale: put", "PUT", path, {"metadata": {"name": "scaled", "namespace": "raw"}, "spec": {"replicas": 0}})
    it.call("scale: merge patch", "PATCH", path, {"spec": {"replicas": 2}}, type=MERGE)
    it.call("scale: json patch", "PATCH", path, [{"op": "replace", "path": "/spec/replicas", "value": 0}], type=JSON_PATCH)
    it.call("scale: strategic patch", "PATCH", path, {"spec": {"replicas": 0}}, type=STRATEGIC)
    it.call("scale: old version", "PUT", path, {"metadata": {"name": "scaled", "namespace": "raw", "resourceVersion": got["metadata.resourceVersion"]}, "spec": {"replicas": 1}})
    it.call("scale: negative", "PATCH", path, {"spec": {"replicas": -1}}, type=MERGE)
    it.call("scale: text", "PATCH", path, {"spec": {"replicas": "1"}}, type=MERGE)
    it.call("scale: without spec", "PUT", path, {"metadata": {"name": "scaled", "namespace": "raw"}})
    it.call("scale: another name", "PUT", path, {"metadata": {"name": "other", "namespace": "raw"}, "spec": {"replicas": 1}})
    it.call("scale: unknown field", "PATCH", path + "?fieldValidation=Strict", {"spec": {"chair": 1}}, type=MERGE)
    it.call("scale: dry run", "PATCH", path + "?dryRun=All", {"spec": {"replicas": 1}}, type=MERGE)
    it.call("scale: delete", "DELETE", path)
    it.call("scale: watch", "GET", path + "?watch=1")
    it.call("scale: Table", "GET", path, accept=TABLE)
    it.call("scale: of a replica set", "GET", SETS + "/missing/scale")


def deletions(it):
    def make(name, **metadata):
        return it.call("", "POST", MAPS, config_map(name, labels={"gone": "soon"}, **metadata))
    made = make("d1")
    it.call("delete: another uid", "DELETE", MAPS + "/d1", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}})
    it.call("delete: another version", "DELETE", MAPS + "/d1", {"preconditions": {"resourceVersion": "1"}})
    it.call("delete: its uid and version", "DELETE", MAPS + "/d1", {"preconditions": {"uid": made["metadata.uid"], "resourceVersion": made["metadata.resourceVersion"]}})
    it.call("delete: missing", "DELETE", MAPS + "/d1")
    make("d2")
    it.call("delete: dry run", "DELETE", MAPS + "/d2?dryRun=All")
    it.call("delete: dry run in the body", "DELETE", MAPS + "/d2", {"dryRun": ["All"]})
    it.call("delete: unknown policy", "DELETE", MAPS + "/d2?propagationPolicy=Sideways")
    it.call("delete: policy and orphanDependents", "DELETE", MAPS + "/d2", {"propagationPolicy": "Orphan", "orphanDependents": True})
    it.call("delete: negative grace period", "DELETE", MAPS + "/d2?gracePeriodSeconds=-1")
    it.call("delete: options of another kind", "DELETE", MAPS + "/d2", {"kind": "ConfigMap", "apiVersion": "v1"})
    it.call("delete: broken options", "DELETE", MAPS + "/d2", "{")
    it.call("delete: Background", "DELETE", MAPS + "/d2?propagationPolicy=Background")
    make("f", finalizers=["example.org/hold"])
    it.call("delete: with a finalizer", "DELETE", MAPS + "/f")
    it.call("delete: again", "DELETE", MAPS + "/f")
    it.call("delete: a finalizer more", "PATCH", MAPS + "/f", {"metadata": {"finalizers": ["example.org/hold", "example.org/more"]}}, type=MERGE)
    it.call("delete: a change meanwhile", "PATCH", MAPS + "/f", {"data": {"k": "changed"}}, type=MERGE)
    it.watch("delete: the last finalizer goes", MAPS + "?watch=1&labelSelector=gone",
             lambda: it.call("", "PATCH", MAPS + "/f", {"metadata": {"finalizers": None}}, type=MERGE), events=2)
    for name in ("c1", "c2", "c3"):
        make(name)
    it.call("delete: a collection with limit=1", "DELETE", MAPS + "?labelSelector=gone&limit=1")
    it.call("delete: what the limit left", "GET", MAPS + "?labelSelector=gone")
    it.call("delete: a collection, dry run", "DELETE", MAPS + "?labelSelector=gone&dryRun=All")
    it.call("delete: a collection", "DELETE", MAPS + "?labelSelector=gone")
    it.call("delete: an empty collection", "DELETE", MAPS + "?labelSelector=gone")
    it.call("delete: a collection by an unknown field", "DELETE", MAPS + "?fieldSelector=a%3Db")
    for policy in ("Foreground", "Orphan", "Background"):
        owner = make("owner-" + policy.lower())
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner-" + policy.lower(), "uid": owner["metadata.uid"], "blockOwnerDeletion": True}
        make("child-" + policy.lower(), ownerReferences=[reference])
        it.watch(f"delete: {policy}, until both are settled", f"{MAPS}?watch=1&labelSelector=gone",
                 lambda: it.call("", "DELETE", f"{MAPS}/owner-{policy.lower()}?propagationPolicy={policy}"), seconds=3)
        it.call("", "DELETE", MAPS + "?labelSelector=gone")
    it.call("delete: a namespace", "DELETE", "/api/v1/namespaces/raw")
    it.call("delete: default", "DELETE", "/api/v1/namespaces/default")


def kinds(it):
    for title, path, body in (
            ("lease", LEASES, {**lease("k1"), "spec": {"holderIdentity": "x", "leaseDurationSeconds": 15, "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.123456Z", "leaseTransitions": 1}}),
            ("lease with a time without fraction", LEASES, {**lease("k2"), "spec": {"renewTime": "2026-01-01T00:00:00Z"}}),
            ("lease with a time of nanoseconds", LEASES, {**lease("k3"), "spec": {"renewTime": "2026-01-01T00:00:00.123456789Z"}}),
            ("lease with a time of another zone", LEASES, {**lease("k4"), "spec": {"renewTime": "2026-01-01T02:00:00.000000+02:00"}}),
            ("lease with a time that is none", LEASES, {**lease("k5"), "spec": {"renewTime": "yesterday"}}),
            ("lease of 0 s", LEASES, {**lease("k6"), "spec": {"leaseDurationSeconds": 0}}),
            ("lease of -1 transitions", LEASES, {**lease("k7"), "spec": {"leaseTransitions": -1}}),
            ("service", SERVICES, service("k1")),
            ("service without ports", SERVICES, service("k2", ports=[])),
            ("service with two ports without names", SERVICES, service("k3", ports=[{"port": 80}, {"port": 81}])),
            ("service with a port of 0", SERVICES, service("k4", ports=[{"port": 0}])),
            ("service of an unknown type", SERVICES, service("k5", type="Chair")),
            ("service without an address", SERVICES, service("k6", clusterIP="None")),
            ("service with a name that begins with a digit", SERVICES, service("1k")),
            ("endpoints", ENDPOINTS, {"metadata": {"name": "e1"}, "subsets": [{"addresses": [{"ip": "10.0.0.2"}, {"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}),
            ("endpoints of 127.0.0.1", ENDPOINTS, {"metadata": {"name": "e2"}, "subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": 80}]}]}),
            ("endpoints with a name as address", ENDPOINTS, {"metadata": {"name": "e3"}, "subsets": [{"addresses": [{"ip": "x"}], "ports": [{"port": 80}]}]}),
            ("slice", SLICES, {"metadata": {"name": "s1"}, "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": True}}], "ports": [{"name": "http", "port": 80}]}),
            ("slice without a type", SLICES, {"metadata": {"name": "s2"}, "endpoints": []}),
            ("slice with the wrong family", SLICES, {"metadata": {"name": "s3"}, "addressType": "IPv6", "endpoints": [{"addresses": ["10.0.0.1"]}]}),
            ("deployment", DEPLOYMENTS, deployment("k1")),
            ("deployment without a selector", DEPLOYMENTS, {"metadata": {"name": "k2"}, "spec": {"template": deployment("k2")["spec"]["template"]}}),
            ("deployment whose selector does not match", DEPLOYMENTS, deployment("k3", selector={"matchLabels": {"app": "other"}})),
            ("deployment without containers", DEPLOYMENTS, deployment("k4", template={"metadata": {"labels": {"app": "k4"}}, "spec": {"containers": []}})),
            ("deployment of -1", DEPLOYMENTS, deployment("k5", -1)),
            ("deployment of an unknown strategy", DEPLOYMENTS, deployment("k6", strategy={"type": "Chair"})),
            ("pod", PODS, pod("k1")),
            ("pod without containers", PODS, pod("k2", containers=[])),
            ("pod with two equal containers", PODS, pod("k3", containers=[{"name": "c", "image": "x"}] * 2)),
            ("pod with an unknown policy", PODS, pod("k4", restartPolicy="Sometimes")),
            ("scaler", SCALERS, {"metadata": {"name": "h1"}, "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "k1"}, "maxReplicas": 3}}),
            ("scaler without a maximum", SCALERS, {"metadata": {"name": "h2"}, "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "k1"}}}),
            ("scaler with its bounds the wrong way", SCALERS, {"metadata": {"name": "h3"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "k1"}, "minReplicas": 4, "maxReplicas": 3}}),
            ("event", NS + "/events", {"metadata": {"name": "e1"}, "involvedObject": {"kind": "Pod", "namespace": "raw", "name": "k1"}, "reason": "R", "message": "m", "type": "Normal"}),
            ("event about another namespace", NS + "/events", {"metadata": {"name": "e2"}, "involvedObject": {"kind": "Pod", "namespace": "else", "name": "k1"}}),
            ("service account", NS + "/serviceaccounts", {"metadata": {"name": "sa"}})):
        it.call("kinds: " + title, "POST", path, body)
    it.call("kinds: status of a deployment by create", "POST", DEPLOYMENTS, {**deployment("k9"), "status": {"replicas": 4}})
    it.call("kinds: put of a lease that is missing", "PUT", LEASES + "/put", lease("put"))
    it.call("kinds: put of a service that is missing", "PUT", SERVICES + "/put", service("put"))
    it.call("kinds: put of endpoints that are missing", "PUT", ENDPOINTS + "/put-e", {"metadata": {"name": "put-e"}, "subsets": []})
    it.call("kinds: put of a config map that is missing", "PUT", MAPS + "/put", config_map("put"))
    it.call("kinds: put of a slice that is missing", "PUT", SLICES + "/put", {"metadata": {"name": "put"}, "addressType": "IPv4", "endpoints": []})
    it.call("kinds: lease without a version in put", "PUT", LEASES + "/put", lease("put", "two"))
    it.call("kinds: slice with another type", "PATCH", SLICES + "/s1", {"addressType": "IPv6"}, type=MERGE)
    it.call("kinds: generation after a change of metadata", "PATCH", DEPLOYMENTS + "/k1", {"metadata": {"annotations": {"a": "b"}}}, type=MERGE)
    it.call("kinds: generation after a change of spec", "PATCH", DEPLOYMENTS + "/k1", {"spec": {"minReadySeconds": 1}}, type=MERGE)
    it.call("kinds: image of a pod", "PATCH", PODS + "/k1", {"spec": {"containers": [{"name": "c", "image": "other"}]}}, type=STRATEGIC)
    it.call("kinds: command of a pod", "PATCH", PODS + "/k1", {"spec": {"containers": [{"name": "c", "command": ["x"]}]}}, type=STRATEGIC)
    it.call("kinds: status of a pod", "PATCH", PODS + "/k1/status", {"status": {"phase": "Running", "podIP": "10.1.1.1", "conditions": [{"type": "Ready", "status": "True"}]}}, type=STRATEGIC)
    it.call("kinds: pods by phase", "GET", PODS + "?fieldSelector=status.phase%3DRunning", accept=TABLE)
    it.call("kinds: delete a pod at once", "DELETE", PODS + "/k1?gracePeriodSeconds=0")
    for kind, path in (("lease", LEASES + "/k1"), ("service", SERVICES + "/k1"), ("endpoints", ENDPOINTS + "/e1"), ("slice", SLICES + "/s1"),
                       ("scaler", SCALERS + "/h1"), ("deployment", DEPLOYMENTS + "/k9"), ("secret", SECRETS + "/s"), ("namespace", "/api/v1/namespaces/raw")):
        it.call("kinds: Table of a " + kind, "GET", path, accept=TABLE)


def custom(it):
    schema = {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}, "replicas": {"type": "integer"}, "color": {"type": "string", "enum": ["red", "blue"]}}, "required": ["size"]},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
               "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}], "selectableFields": [{"jsonPath": ".spec.color"}]}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.beside.example.org"},
                  "spec": {"group": "beside.example.org", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "shortNames": ["th"]}, "versions": [version]}}
    it.call("custom: kind before it is defined", "GET", THINGS)
    it.call("custom: a definition whose name does not fit", "POST", CRDS, {**definition, "metadata": {"name": "x.beside.example.org"}})
    it.call("custom: a definition without versions", "POST", CRDS, {**definition, "spec": {**definition["spec"], "versions": []}})
    it.call("", "POST", CRDS, definition)
    while it.call("", "GET", THINGS).status != 200:
        pass
    it.call("custom: definition", "GET", CRDS + "/things.beside.example.org")
    def thing(name, **spec):
        return {"apiVersion": "beside.example.org/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}
    it.call("custom: discovery", "GET", "/apis/beside.example.org/v1")
    it.call("custom: create", "POST", THINGS, thing("t", size=1, color="red"))
    it.call("custom: without kind", "POST", THINGS, {"metadata": {"name": "u"}, "spec": {"size": 1}})
    it.call("custom: of another type", "POST", THINGS, thing("v", size="x"))
    it.call("custom: a missing field", "POST", THINGS, thing("v"))
    it.call("custom: below the minimum", "POST", THINGS, thing("v", size=0))
    it.call("custom: outside the enumeration", "POST", THINGS, thing("v", size=1, color="green"))
    it.call("custom: an unknown field", "POST", THINGS, thing("pruned", size=1, chair=1))
    it.call("custom: update without a version", "PUT", THINGS + "/t", thing("t", size=2))
    it.call("custom: strategic patch", "PATCH", THINGS + "/t", {"spec": {"size": 2}}, type=STRATEGIC)
    it.call("custom: merge patch", "PATCH", THINGS + "/t", {"spec": {"size": 2, "color": "red"}}, type=MERGE)
    it.call("custom: apply", "PATCH", THINGS + "/t?fieldManager=me", thing("t", size=2), type=APPLY)
    it.call("custom: apply in conflict", "PATCH", THINGS + "/t?fieldManager=you", thing("t", size=3), type=APPLY)
    it.call("custom: selectable field", "GET", THINGS + "?fieldSelector=spec.color%3Dred")
    it.call("custom: field that is not selectable", "GET", THINGS + "?fieldSelector=spec.size%3D1")
    it.call("custom: Table", "GET", THINGS, accept=TABLE)
    it.call("custom: scale", "PATCH", THINGS + "/t/scale", {"spec": {"replicas": 3}}, type=MERGE)
    it.call("custom: status", "PATCH", THINGS + "/t/status", {"status": {"replicas": 2}, "spec": {"size": 9}}, type=MERGE)
    it.watch("custom: the definition goes", THINGS + "?watch=1", lambda: it.call("", "DELETE", CRDS + "/things.beside.example.org"), events=6, seconds=12)


def run(it):
    for part in (discovery, objects, lists, watches, patches, apply, scales, kinds, custom, deletions):
        part(it)
