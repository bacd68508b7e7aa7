"""Who calls: raw bytes, and the clients that people use."""
import http.client
import json
import os
import socket
import subprocess
import time

import cases
import wire

HERE = os.path.dirname(os.path.abspath(__file__))
DOMAIN = ".shop.svc.cluster.local"
PATIENCE = 1.5


def receive(connection, until, patience=PATIENCE):
    """Reads until what came satisfies, or the time is over; says how it ended."""
    data, end = b"", time.monotonic() + patience
    while not until(data):
        connection.settimeout(max(0.01, end - time.monotonic()))
        try:
            more = connection.recv(65536)
        except TimeoutError:
            return data, "timeout"
        except OSError:
            return data, "reset"
        if not more:
            return data, "closed"
        data += more
    connection.settimeout(0.04)
    try:
        return data, "open" if connection.recv(1) else "closed"
    except TimeoutError:
        return data, "open"
    except OSError:
        return data, "reset"


def raw(port, pod, case):
    parts = cases.REQUESTS[case] if pod == "raw" else cases.static(pod)[case]
    methods = [one.start.split(" ")[0] for one in wire.http1(b"".join(parts))]

    def over(data):
        messages = [one for one in wire.http1(data, methods) if not one.start.split(" ")[1:2] or one.start[9:10] != "1" or one.start[9:12] == "101"]
        if messages and messages[-1].framing == "tunnel":
            return messages[-1].body == b"ping"
        return len(messages) >= len(methods) and messages[-1].complete

    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(0.002 if len(part) < 2 else 0.02 if len(parts) > 1 else 0)
        except OSError:
            pass
        return "connection " + receive(connection, over)[1]


def raw_http2(port, pod, case):
    import hpack
    fields, body, trailers = cases.HTTP2_REQUESTS[case]
    fields = [(name, value and value.replace("raw.", pod + ".")) for name, value in fields]
    special = {":method": "GET", ":scheme": "http", ":path": "/c/ok", ":authority": pod + DOMAIN}
    special.update((name, value) for name, value in fields if name.startswith(":"))
    encoder = hpack.Encoder()
    listed = [(name, value) for name, value in special.items() if value is not None]
    listed += [(name, value.encode("latin-1")) for name, value in fields if not name.startswith(":")]
    block = encoder.encode(listed, huffman=False)
    frames = [block[at:at + 16384] for at in range(0, len(block), 16384)]
    out = wire.PREFACE + wire.frame(4, 0, 0)
    for number, piece in enumerate(frames):
        last = 4 if number == len(frames) - 1 else 0
        out += wire.frame(9 if number else 1, last | (0 if number else int(body is None and not trailers)), 1, piece)
    if body is not None:
        out += wire.frame(0, int(not trailers), 1, body)
    if trailers:
        out += wire.frame(1, 5, 1, encoder.encode(trailers))
    heard = wire.Http2(False)
    fed = [0]

    def over(data):
        heard.feed(data[fed[0]:])
        fed[0] = len(data)
        message = heard.by_stream.get(1)
        return message and message.complete and not message.start.startswith("HTTP/2 1") or any(
            one.start.startswith("reset") for one in heard.messages)

    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(out)
        end = receive(connection, over)[1]
        return "connection " + end


def python(port, pod, case):
    connection = http.client.HTTPConnection(pod + DOMAIN, port, timeout=PATIENCE)
    try:
        connection.request("GET", "/c/" + case)
        response = connection.getresponse()
        return f"{response.status} {response.read()[:60]!r}"
    except Exception as e:
        return "error " + type(e).__name__
    finally:
        connection.close()


class Program:
    """A client that takes the port and the path in lines, and says in a line how it went."""

    def __init__(self, *command):
        self.command, self.process = command, None

    def __call__(self, port, pod, case):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(f"http://{pod}{DOMAIN}:{port}/c/{case}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def spawned(*command):
    def call(port, pod, case):
        done = subprocess.run([*command, f"http://{pod}{DOMAIN}:{port}/c/{case}"], capture_output=True, timeout=20)
        return f"{done.stdout[-80:]!r}" if done.returncode == 0 else f"exit {done.returncode}"
    return call


CURL = spawned("curl", "-s", "-m", "2", "-o", "-", "-w", " %{http_code}")
CURL_HTTP2 = spawned("curl", "-s", "-m", "2", "-o", "-", "-w", " %{http_code}", "--http2-prior-knowledge")
NODE = HERE + "/clients/node.js"
HTTP1 = [name for name, one in cases.RESPONSES.items() if "1" in one.versions]
HTTP2 = [name for name, one in cases.RESPONSES.items() if "2" in one.versions]
GRPC = ["unary", "error", "head", "large", "empty", "deadline", "metadata", "upload", "cancel", "server", "server-error", "client",
        "both", "both-empty", "unknown"]
WEBSOCKET = ["deflate", "plain", "context", "protocol", "closed", "binary", "empty", "origin"]
# Name: how to call, the pod, the version of HTTP, and which cases. HAProxy and nginx, as callers, are asked by curl.
CALLERS = {
    "raw": (raw, "raw", 1, list(cases.REQUESTS)),
    "raw-h2": (raw_http2, "raw", 2, list(cases.HTTP2_REQUESTS)),
    **{"raw-" + pod: (raw, pod, 1, list(cases.static(pod))) for pod in ("python", "jwebserver", "static-nginx")},
    "raw-h2-container": (raw_http2, "container", 2, list(cases.HTTP2_REQUESTS)),
    "curl-h2-container": (CURL_HTTP2, "container", 2, HTTP2),
    "python": (python, "raw", 1, HTTP1),
    "curl": (CURL, "raw", 1, HTTP1),
    "curl-h2": (CURL_HTTP2, "raw", 2, HTTP2),
    "nghttp": (spawned("nghttp", "-t", "2s"), "raw", 2, HTTP2),
    "node-http": (Program("node", NODE, "http"), "raw", 1, HTTP1),
    "node-http2": (Program("node", NODE, "http2"), "raw", 2, HTTP2),
    "undici": (Program("node", NODE, "undici"), "raw", 1, HTTP1),
    "java": (Program("java", HERE + "/clients/Client.java"), "raw", 1, HTTP1),
    "haproxy": (CURL, "raw", 1, HTTP1),
    "haproxy-h2": (CURL_HTTP2, "raw", 2, HTTP2),
    "nginx": (CURL, "raw", 1, HTTP1),
    "nginx-h2": (CURL_HTTP2, "raw", 2, HTTP2),
    "grpc-node": (Program("node", HERE + "/clients/grpc.js"), "grpc", 2, GRPC),
    "grpc-go": (Program(os.environ.get("OUT", "") + "/grpc-go"), "grpc", 2, GRPC),
    "grpc-java": (Program("java", "-cp", os.environ.get("CLUSTER", ""), HERE + "/clients/GrpcClient.java"), "grpc", 2, GRPC),
    "websocket": (Program("node", HERE + "/clients/websocket.js"), "websocket", 1, WEBSOCKET),
}
