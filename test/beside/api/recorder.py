"""Calls of one server, and what it answered, without what differs in each run."""
import http.client
import json
import re
import threading
import urllib.parse

JSON, JSON_PATCH, MERGE = "application/json", "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

VARIABLE = [(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", "UID"), (r"20\d\d-\d\d-\d\dT[\d:]{8}(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
            (r"(https?://)?127\.0\.0\.1:\d+", "SERVER"), (r"(?<=-)[bcdf-hj-np-tv-z2-9]{8,10}(?=\b)", "HASH"), (r"(?<=-)[bcdf-hj-np-tv-z2-9]{5}\b", "RANDOM"),
            (r"^\d+[smh](\d+[sm])?$", "AGE"), (r"\b10\.96\.\d+\.\d+\b", "CLUSTER-IP"), (r"in record \(\d+\)", "in record (N)"),
            (r"(resource ?[vV]ersion: |current: |UID: |version of |old resource version: )\d+( \(\d+\))?", r"\1N"), (r"\b\d+(\.\d+)?(ms|s) ago", "AGO")]


def steady(value, key=""):
    """A value without what differs in each run: versions, times, random names."""
    if isinstance(value, dict):
        return {name: steady(one, name) for name, one in value.items()}
    if isinstance(value, list):
        if key == "managedFields":
            value = sorted(value, key=lambda one: (one.get("manager", ""), one.get("operation", ""), one.get("subresource", "")))
        return [steady(one, key) for one in value]
    if key == "resourceVersion" and isinstance(value, str) and value.isdigit():
        return "0" if value == "0" else "VERSION"
    if key in ("continue", "_continue") and value:
        return "TOKEN"
    if key == "remainingItemCount":
        return value
    if isinstance(value, str):
        for pattern, name in VARIABLE:
            value = re.sub(pattern, name, value)
    return value


def leaves(value, path=""):
    """The leaves of JSON by their paths; an empty object or list is a leaf."""
    if isinstance(value, dict) and value:
        for name, one in value.items():
            yield from leaves(one, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for number, one in enumerate(value):
            yield from leaves(one, f"{path}[{number}]")
    else:
        yield path, json.dumps(value)


def outcome(answer):
    """The status of an answer, and what it says if it is a failure."""
    body = answer.get("body")
    if isinstance(body, dict) and body.get("kind") == "Status":
        return f"{answer['status']} {body.get('reason', '')}: {body.get('message', '')}"
    return str(answer.get("status"))


def changes(theirs, ours):
    """How one answer differs from the other, leaf by leaf; if the status differs, only that."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.get("status") != ours.get("status"):
        yield f"{outcome(theirs)} -> {outcome(ours)}"
        return
    theirs, ours = dict(leaves(theirs)), dict(leaves(ours))
    for path in [*theirs, *(path for path in ours if path not in theirs)]:
        if path not in ours:
            yield f"- {path}: {theirs[path]}"
        elif path not in theirs:
            yield f"+ {path}: {ours[path]}"
        elif theirs[path] != ours[path]:
            yield f"{path}: {theirs[path]} -> {ours[path]}"


class Answer:
    """**Errors**: a watch that the server cut has cut in place of its end."""

    def __init__(self, status, body, text):
        self.status, self.body, self.text = status, body, text

    def __getitem__(self, path):
        """A leaf, such as metadata.uid."""
        value = self.body
        for name in path.split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
        return value


class Recorder:
    def __init__(self, server):
        self.server = server
        self.rows = {}

    def record(self, title, result):
        if title in self.rows:
            raise ValueError("twice: " + title)
        self.rows[title] = result

    def connect(self, seconds):
        url = urllib.parse.urlsplit(self.server.url)
        if url.scheme == "https":
            return http.client.HTTPSConnection(url.hostname, url.port, timeout=seconds, context=self.server.context)
        return http.client.HTTPConnection(url.hostname, url.port, timeout=seconds)

    def request(self, method, path, body=None, type=JSON, accept=JSON, seconds=40, **headers):
        connection = self.connect(seconds)
        if body is not None:
            headers["Content-Type"] = type
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        if accept:
            headers["Accept"] = accept
        connection.request(method, urllib.parse.quote(path, safe="/?&=%,;:!()*+'"), body, {**self.server.headers, **headers})
        return connection, connection.getresponse()

    def call(self, title, method, path, body=None, **options):
        """One request: its row has the status, the type, the warnings and the body."""
        _, response = self.request(method, path, body, **options)
        text = response.read().decode(errors="replace")
        try:
            content = json.loads(text)
        except ValueError:
            content = text
        if title:
            result = {"status": response.status, "type": response.getheader("Content-Type"), "body": steady(content)}
            for name in ("Warning", "Allow", "Retry-After", "Location"):
                if response.getheader(name):
                    result[name.lower()] = [steady(one) for one in response.headers.get_all(name)]
            self.record(title, result)
        return Answer(response.status, content, text)

    def watch(self, title, path, *actions, events=None, seconds=4, **options):
        """
        A watch, and what is done once it is open: its row has the events until so many have come, the server ends it, or so long
        nothing comes. Bookmarks come at times of the server's own: they are in the row only if the path ends with "bookmarks".
        """
        connection, response = self.request("GET", path, seconds=seconds, **options)
        result = {"status": response.status, "type": response.getheader("Content-Type"), "events": []}
        if response.status == 200 and actions:
            threading.Timer(0.2, lambda: [action() for action in actions]).start()
        try:
            for line in iter(response.readline, b""):
                event = json.loads(line)
                if response.status != 200 or "type" not in event:
                    result["body"] = steady(event)
                    break
                if event["type"] == "BOOKMARK" and "annotations" not in event["object"]["metadata"] and "periodic" not in title:
                    continue
                result["events"].append(steady(event))
                if event["type"] != "BOOKMARK":
                    self.last = event["object"].get("metadata", {}).get("resourceVersion")
                if events and len(result["events"]) == events:
                    result["end"] = "enough"
                    break
            else:
                result["end"] = "by the server"
        except TimeoutError:
            result["end"] = "silent"
        connection.close()
        self.record(title, result)
        return result
