"""What is said: requests of raw callers and responses of the raw pod, all valid, most of them unusual."""
from dataclasses import dataclass, field


@dataclass
class Response:
    status: int = 200
    reason: str = "OK"
    fields: list = field(default_factory=list)
    body: bytes = b"hello"
    framing: str = "length"  # chunked, close, none
    trailers: list = field(default_factory=list)
    interim: list = field(default_factory=list)
    early: bool = False  # before the request's body
    close: bool = False
    tunnel: bool = False
    reset: int = None  # HTTP/2: a code after the response
    parts: list = None  # HTTP/1: the bytes as they are
    one: bool = True  # HTTP/1: in one write
    versions: str = "12"
    version: str = "1.1"
    extension: str = ""

    def http1(self, method):
        if self.parts:
            return self.parts
        out = [f"HTTP/1.1 {status} Interim\r\n".encode() + head(fields) + b"\r\n"
               for status, fields in self.interim]
        framing = {"length": [("Content-Length", str(len(self.body)))],
                   "chunked": [("Transfer-Encoding", "chunked")]}.get(self.framing, [])
        first = f"HTTP/{self.version} {self.status} {self.reason}\r\n".encode() + head(self.fields + framing) + b"\r\n"
        out.append(first)
        if method != "HEAD" and self.framing != "none":
            if self.framing == "chunked":
                out.append(f"{len(self.body):x}{self.extension}\r\n".encode() + self.body + b"\r\n0\r\n"
                           + head(self.trailers) + b"\r\n")
            else:
                out.append(self.body)
        return [b"".join(out)] if self.one else out

    def http2_fields(self, start):
        hop = ("connection", "keep-alive", "upgrade", "proxy-connection", "transfer-encoding")
        return [(name, value) for name, value in self.fields if name.lower() not in hop] + (
            [("content-length", str(len(self.body)))] if self.framing == "length" else [])


def head(fields):
    return b"".join(f"{name}: {value}\r\n".encode("latin-1") for name, value in fields)


TEXT = ("Content-Type", "text/plain")
DATE = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
R = Response

RESPONSES = {
    "ok": R(fields=[TEXT]),
    "no-type": R(),
    "date": R(fields=[TEXT, DATE, ("Server", "raw/1")]),
    "empty": R(fields=[TEXT], body=b""),
    "chunked": R(fields=[TEXT], framing="chunked"),
    "chunked-slowly": R(fields=[TEXT], framing="chunked", one=False),
    "chunk-extension": R(fields=[TEXT], framing="chunked", extension=';name=value;q="a;b"', versions="1"),
    "trailers": R(fields=[TEXT, ("Trailer", "X-Sum")], framing="chunked", trailers=[("X-Sum", "5"), ("X-Other", "o")]),
    "trailers-unannounced": R(fields=[TEXT], framing="chunked", trailers=[("X-Sum", "5")]),
    "trailers-repeated": R(fields=[TEXT], framing="chunked", trailers=[("X-Sum", "5"), ("X-Sum", "6")]),
    "close-delimited": R(fields=[TEXT], framing="close", close=True, versions="1"),
    "close-named": R(fields=[TEXT, ("Connection", "close")], close=True, versions="1"),
    "http-1.0": R(fields=[TEXT], version="1.0", close=True, versions="1"),
    "http-1.0-keep-alive": R(fields=[TEXT, ("Connection", "keep-alive")], version="1.0", versions="1"),
    "http-1.0-close-delimited": R(fields=[TEXT], framing="close", version="1.0", close=True, versions="1"),
    "keep-alive": R(fields=[TEXT, ("Connection", "keep-alive"), ("Keep-Alive", "timeout=5, max=100")], versions="1"),
    "connection-names": R(fields=[TEXT, ("Connection", "X-Hop, close"), ("X-Hop", "h"), ("X-End", "e")], close=True, versions="1"),
    "204": R(204, "No Content", body=b"", framing="none"),
    "204-fields": R(204, "No Content", [("ETag", '"e"'), ("X-A", "a")], b"", "none"),
    "204-type": R(204, "No Content", [TEXT], b"", "none"),
    "205": R(205, "Reset Content", body=b""),
    "304": R(304, "Not Modified", [("ETag", '"e"')], b"", "none"),
    "304-length": R(304, "Not Modified", [("ETag", '"e"'), ("Content-Length", "1234")], b"", "none"),
    "206": R(206, "Partial Content", [TEXT, ("Content-Range", "bytes 0-4/10")]),
    "206-multipart": R(206, "Partial Content", [("Content-Type", "multipart/byteranges; boundary=b")],
                       b"--b\r\nContent-Range: bytes 0-0/9\r\n\r\nx\r\n--b--\r\n"),
    "301": R(301, "Moved Permanently", [("Location", "/c/ok")], b""),
    "302-absolute": R(302, "Found", [("Location", "http://raw.shop.svc.cluster.local/c/ok?a=b#c")], b""),
    "307": R(307, "Temporary Redirect", [("Location", "../c/ok")], b""),
    "400": R(400, "Bad Request", [TEXT]),
    "401": R(401, "Unauthorized", [TEXT, ("WWW-Authenticate", 'Basic realm="r"'), ("WWW-Authenticate", "Bearer")]),
    "404-close": R(404, "Not Found", [TEXT, ("Connection", "close")], close=True, versions="1"),
    "405": R(405, "Method Not Allowed", [("Allow", "GET, HEAD, OPTIONS")], b""),
    "407": R(407, "Proxy Authentication Required", [TEXT, ("Proxy-Authenticate", "Basic")]),
    "408": R(408, "Request Timeout", [TEXT]),
    "413-early": R(413, "Content Too Large", [TEXT], early=True),
    "413-early-close": R(413, "Content Too Large", [TEXT, ("Connection", "close")], early=True, close=True, versions="1"),
    "417": R(417, "Expectation Failed", [TEXT], early=True),
    "421": R(421, "Misdirected Request", [TEXT]),
    "425": R(425, "Too Early", [TEXT]),
    "426": R(426, "Upgrade Required", [TEXT, ("Upgrade", "foo/2"), ("Connection", "Upgrade")], versions="1"),
    "429": R(429, "Too Many Requests", [TEXT, ("Retry-After", "7")]),
    "500": R(500, "Internal Server Error", [TEXT]),
    "502": R(502, "Bad Gateway", [TEXT]),
    "503": R(503, "Service Unavailable", [TEXT, ("Retry-After", "Sun, 06 Nov 2044 08:49:37 GMT")]),
    "504": R(504, "Gateway Timeout", [TEXT]),
    "299": R(299, "Own Words", [TEXT]),
    "599": R(599, "Odd", [TEXT]),
    "999": R(999, "Odd", [TEXT]),
    "reason-empty": R(200, "", [TEXT], versions="1"),
    "reason-long": R(200, "All is well, \xe9t\xe9 " + "x" * 200, [TEXT], parts=[
        b"HTTP/1.1 200 All is well, \xe9t\xe9\r\nContent-Length: 5\r\n\r\nhello"], versions="1"),
    "103": R(fields=[TEXT], interim=[(103, [("Link", "</a.css>; rel=preload")])]),
    "103-twice": R(fields=[TEXT], interim=[(103, [("Link", "</a>")]), (103, [("Link", "</b>")])]),
    "102-slowly": R(fields=[TEXT], interim=[(102, [])], one=False),
    "100-unasked": R(fields=[TEXT], interim=[(100, [])]),
    "100-fields": R(fields=[TEXT], interim=[(100, [("X-Interim", "i")])]),
    "199": R(fields=[TEXT], interim=[(199, [("X-Interim", "i")])]),
    "fields-repeated": R(fields=[TEXT, ("X-A", "1"), ("X-B", "b"), ("X-A", "2")]),
    "fields-case": R(fields=[("content-TYPE", "text/plain"), ("x-LOWER-upper", "v"), ("ETag", '"e"')]),
    "fields-empty": R(fields=[TEXT, ("X-Empty", ""), ("Cache-Control", "")]),
    "fields-odd-names": R(fields=[TEXT, ("X_Under", "u"), ("X.Dot", "d"), ("!#$%&'*+-.^_`|~", "t"), ("1", "digit")]),
    "fields-latin": R(fields=[TEXT, ("X-Latin", "caf\xe9")]),
    "fields-spaces": R(fields=[TEXT], parts=[
        b"HTTP/1.1 200 OK\r\nContent-Length:5\r\nX-Tab:\ta\tb \t\r\nX-Wide:    c  d   \r\n\r\nhello"], versions="1"),
    "fields-folded": R(parts=[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Fold: a\r\n  b\r\n\r\nhello"], versions="1"),
    "field-long": R(fields=[TEXT, ("X-Long", "y" * 6000)]),
    "field-very-long": R(fields=[TEXT, ("X-Long", "y" * 60000)]),
    "fields-many": R(fields=[TEXT] + [(f"X-{i}", str(i)) for i in range(110)]),
    "cookies": R(fields=[TEXT, ("Set-Cookie", "a=1; Path=/; Expires=Sun, 06 Nov 2044 08:49:37 GMT"), ("Set-Cookie", "b=2")]),
    "vary": R(fields=[TEXT, ("Vary", "Accept"), ("Vary", "Origin, Cookie")]),
    "via": R(fields=[TEXT, ("Via", "1.1 pod"), ("X-Forwarded-For", "9.9.9.9")]),
    "alt-svc": R(fields=[TEXT, ("Alt-Svc", 'h3=":443"; ma=60'), ("Strict-Transport-Security", "max-age=1")]),
    "encoded": R(fields=[TEXT, ("Content-Encoding", "gzip")], body=bytes.fromhex("1f8b08000000000000ffcb48cdc9c9070086a6103605000000")),
    "upgrade-offered": R(fields=[TEXT, ("Upgrade", "websocket, foo/2"), ("Connection", "Upgrade")], versions="1"),
    "length-zeros": R(parts=[b"HTTP/1.1 200 OK\r\nContent-Length: 0005\r\n\r\nhello"], versions="1"),
    "length-twice": R(parts=[b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"], versions="1"),
    "length-list": R(parts=[b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello"], versions="1"),
    "coding-case": R(parts=[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"], versions="1"),
    "chunk-zeros": R(parts=[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0005\r\nhello\r\n000\r\n\r\n"], versions="1"),
    "chunk-upper": R(parts=[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n"], versions="1"),
    "bytes-one-by-one": R(parts=[bytes([one]) for one in b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"], versions="1"),
    "large": R(fields=[TEXT], body=b"z" * 60000),
    "reset-no-error": R(fields=[TEXT], early=True, reset=0, versions="2"),
    "grpc-web-status": R(fields=[("Content-Type", "application/grpc"), ("Trailer", "Grpc-Status")], framing="chunked",
                         trailers=[("Grpc-Status", "0"), ("Grpc-Message", "")]),
    "101": R(parts=[b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo/2\r\nConnection: Upgrade\r\n\r\n"], tunnel=True, versions="1"),
}

# For requests with odd heads of raw callers: NAME: bytes, in parts that are sent one after the other.
HOST = b"Host: raw.shop.svc.cluster.local\r\n"
REVISION = b"Knative-Serving-Namespace: shop\r\nKnative-Serving-Revision: raw\r\n"


def get(fields=b"", target=b"/c/ok", method=b"GET", body=b"", host=HOST, version=b"HTTP/1.1"):
    return [method + b" " + target + b" " + version + b"\r\n" + host + fields + b"\r\n" + body]


CHUNKS = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
REQUESTS = {
    "get": get(),
    "get-http-1.0": get(version=b"HTTP/1.0"),
    "get-http-1.0-keep-alive": get(b"Connection: keep-alive\r\n", version=b"HTTP/1.0"),
    "get-http-1.0-no-host": get(REVISION, version=b"HTTP/1.0", host=b""),
    "get-close": get(b"Connection: close\r\n"),
    "get-keep-alive": get(b"Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n"),
    "get-with-length-0": get(b"Content-Length: 0\r\n"),
    "get-with-body": get(b"Content-Length: 5\r\n", body=b"hello"),
    "get-with-chunks": get(b"Transfer-Encoding: chunked\r\n", body=CHUNKS),
    "get-empty-line-first": [b"\r\n" + get()[0]],
    "get-in-bytes": [bytes([one]) for one in get()[0]],
    "get-pipelined": [get()[0] * 2],
    "get-pipelined-post": [get(b"Content-Length: 5\r\n", method=b"POST", body=b"hello")[0] + get(target=b"/c/chunked")[0]],
    "head": get(method=b"HEAD"),
    "head-chunked": get(method=b"HEAD", target=b"/c/chunked"),
    "head-204": get(method=b"HEAD", target=b"/c/204"),
    "head-304-length": get(method=b"HEAD", target=b"/c/304-length"),
    "head-close-delimited": get(method=b"HEAD", target=b"/c/close-delimited"),
    "head-trailers": get(method=b"HEAD", target=b"/c/trailers"),
    "post": get(b"Content-Length: 5\r\n", method=b"POST", body=b"hello"),
    "post-empty": get(b"Content-Length: 0\r\n", method=b"POST"),
    "post-no-length": get(method=b"POST"),
    "post-length-zeros": get(b"Content-Length: 0005\r\n", method=b"POST", body=b"hello"),
    "post-chunks": get(b"Transfer-Encoding: chunked\r\n", method=b"POST", body=CHUNKS),
    "post-chunks-case": get(b"transfer-encoding: Chunked\r\n", method=b"POST", body=CHUNKS),
    "post-chunks-empty": get(b"Transfer-Encoding: chunked\r\n", method=b"POST", body=b"0\r\n\r\n"),
    "post-chunks-zeros": get(b"Transfer-Encoding: chunked\r\n", method=b"POST", body=b"0005\r\nhello\r\n00\r\n\r\n"),
    "post-chunks-slowly": [get(b"Transfer-Encoding: chunked\r\n", method=b"POST")[0], b"5\r\nhe", b"llo\r\n", b"0\r\n\r\n"],
    "post-chunk-extension": get(b"Transfer-Encoding: chunked\r\n", method=b"POST", body=b"5;a=b;c=\"d;e\"\r\nhello\r\n0;z\r\n\r\n"),
    "post-trailers": get(b"Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n", method=b"POST",
                         body=b"5\r\nhello\r\n0\r\nX-Sum: 5\r\nX-Other: o\r\n\r\n"),
    "post-te-trailers": get(b"TE: trailers\r\nConnection: TE\r\nTransfer-Encoding: chunked\r\n", method=b"POST", target=b"/c/trailers", body=CHUNKS),
    "post-413-early": [get(b"Content-Length: 100000\r\n", method=b"POST", target=b"/c/413-early")[0], b"x" * 50000, b"x" * 50000],
    "post-expect": [get(b"Content-Length: 5\r\nExpect: 100-continue\r\n", method=b"POST")[0], b"hello"],
    "post-expect-case": [get(b"Content-Length: 5\r\nExpect: 100-Continue\r\n", method=b"POST")[0], b"hello"],
    "post-expect-chunks": [get(b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n", method=b"POST")[0], CHUNKS],
    "post-expect-417": [get(b"Content-Length: 5\r\nExpect: 100-continue\r\n", method=b"POST", target=b"/c/417")[0]],
    "post-expect-at-once": get(b"Content-Length: 5\r\nExpect: 100-continue\r\n", method=b"POST", body=b"hello"),
    "get-expect": get(b"Expect: 100-continue\r\n"),
    "expect-http-1.0": get(b"Content-Length: 5\r\nExpect: 100-continue\r\n", method=b"POST", version=b"HTTP/1.0", body=b"hello"),
    "put": get(b"Content-Length: 5\r\n", method=b"PUT", body=b"hello"),
    "patch": get(b"Content-Length: 5\r\n", method=b"PATCH", body=b"hello"),
    "delete": get(method=b"DELETE"),
    "delete-with-body": get(b"Content-Length: 5\r\n", method=b"DELETE", body=b"hello"),
    "options": get(method=b"OPTIONS"),
    "options-star": get(method=b"OPTIONS", target=b"*"),
    "options-max-forwards": get(b"Max-Forwards: 0\r\n", method=b"OPTIONS"),
    "trace": get(method=b"TRACE"),
    "trace-max-forwards": get(b"Max-Forwards: 1\r\n", method=b"TRACE"),
    "propfind": get(b"Depth: 1\r\nContent-Length: 0\r\n", method=b"PROPFIND"),
    "method-own": get(method=b"M-SEARCH"),
    "method-lower": get(method=b"get"),
    "method-odd": get(method=b"!#$%&'*+-.^_`|~"),
    "connect": get(method=b"CONNECT", target=b"raw.shop.svc.cluster.local:80"),
    "target-query": get(target=b"/c/ok?a=1&a=2&b=%20%2F+c&=&;"),
    "target-question-mark": get(target=b"/c/ok?"),
    "target-two-slashes": get(target=b"//c//ok"),
    "target-dots": get(target=b"/a/../c/./ok"),
    "target-encoded": get(target=b"/c/ok/%2f%2F%41%7e/%e2%82%ac"),
    "target-encoded-dots": get(target=b"/%2e%2e/c/ok"),
    "target-semicolon": get(target=b"/c/ok;v=1/x"),
    "target-marks": get(target=b"/c/ok/!$&'()*+,;=:@-._~"),
    "target-colon": get(target=b"/c/ok:verb"),
    "target-absolute": get(target=b"http://raw.shop.svc.cluster.local/c/ok"),
    "target-absolute-query": get(target=b"http://raw.shop.svc.cluster.local?x=/c/ok"),
    "target-absolute-port": get(target=b"http://raw.shop.svc.cluster.local:80/c/ok"),
    "target-absolute-other-host": get(target=b"http://raw.shop.svc.cluster.local/c/ok", host=b"Host: other.example\r\n"),
    "target-absolute-upper": get(target=b"HTTP://RAW.shop.svc.cluster.local/c/ok"),
    "target-long": get(target=b"/c/ok?" + b"q" * 7000),
    "target-very-long": get(target=b"/c/ok?" + b"q" * 60000),
    "host-port": get(host=b"Host: raw.shop.svc.cluster.local:8012\r\n"),
    "host-upper": get(host=b"HOST: RAW.Shop.svc.cluster.local\r\n"),
    "host-dot": get(REVISION, host=b"Host: raw.shop.svc.cluster.local.\r\n"),
    "host-other": get(REVISION, host=b"Host: shop.example.com\r\n"),
    "host-ip": get(REVISION, host=b"Host: 192.0.2.1:80\r\n"),
    "host-ipv6": get(REVISION, host=b"Host: [2001:db8::1]:80\r\n"),
    "host-empty": get(REVISION, host=b"Host: \r\n"),
    "host-empty-port": get(REVISION, host=b"Host: shop.example.com:\r\n"),
    "host-last": [b"GET /c/ok HTTP/1.1\r\nAccept: */*\r\n" + HOST + b"\r\n"],
    "fields-repeated": get(b"X-A: 1\r\nX-B: b\r\nX-A: 2\r\n"),
    "fields-case": get(b"x-LOWER-upper: v\r\naCCEPT: */*\r\n"),
    "fields-empty": get(b"X-Empty:\r\nUser-Agent:\r\nAccept:\r\n"),
    "fields-odd-names": get(b"X_Under: u\r\nX.Dot: d\r\n!#$%&'*+-.^_`|~: t\r\n1: digit\r\n"),
    "fields-latin": get(b"X-Latin: caf\xe9\r\nX-Utf8: caf\xc3\xa9\r\n"),
    "fields-spaces": get(b"X-None:a\r\nX-Tab:\ta\tb \t\r\nX-Wide:    c  d   \r\n"),
    "field-long": get(b"X-Long: " + b"y" * 6000 + b"\r\n"),
    "field-very-long": get(b"X-Long: " + b"y" * 60000 + b"\r\n"),
    "fields-many": get(b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(90))),
    "fields-very-many": get(b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(500))),
    "cookies": get(b"Cookie: a=1; b=2\r\n"),
    "cookies-twice": get(b"Cookie: a=1\r\nCookie: b=2\r\n"),
    "connection-names": get(b"Connection: X-Hop, x-other\r\nX-Hop: h\r\nX-Other: o\r\nX-End: e\r\n"),
    "connection-twice": get(b"Connection: X-Hop\r\nConnection: keep-alive\r\nX-Hop: h\r\n"),
    "connection-names-forwarded": get(b"Connection: X-Forwarded-For, Accept\r\nX-Forwarded-For: 9.9.9.9\r\nAccept: */*\r\n"),
    "proxy-connection": get(b"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\n"),
    "te": get(b"TE: trailers, deflate;q=0.5\r\nConnection: TE\r\n"),
    "te-trailers": get(b"TE: trailers\r\nConnection: TE\r\n", target=b"/c/trailers"),
    "te-unnamed": get(b"TE: trailers\r\n"),
    "via": get(b"Via: 1.0 fred, 1.1 p.example.com\r\n"),
    "max-forwards": get(b"Max-Forwards: 3\r\n"),
    "date": get(b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
    "range": get(b"Range: bytes=0-4\r\nIf-Range: \"e\"\r\n", target=b"/c/206"),
    "conditional": get(b"If-None-Match: \"e\", W/\"f\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", target=b"/c/304"),
    "accept-encoding": get(b"Accept-Encoding: gzip, br;q=0.5\r\n", target=b"/c/encoded"),
    "authorization": get(b"Authorization: Basic eDp5\r\nCookie: s=1\r\n"),
    "forwarded": get(b"Forwarded: for=192.0.2.60;proto=http;by=203.0.113.43\r\n"),
    "x-forwarded-for": get(b"X-Forwarded-For: 9.9.9.9\r\n"),
    "x-forwarded-for-twice": get(b"X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-For: 8.8.8.8\r\n"),
    "x-forwarded-rest": get(b"X-Forwarded-Proto: https\r\nX-Forwarded-Host: a.example\r\nX-Forwarded-Port: 443\r\nX-Real-IP: 9.9.9.9\r\n"),
    "traceparent": get(b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\ntracestate: a=b\r\nbaggage: k=v\r\n"),
    "request-id": get(b"X-Request-Id: r\r\nX-B3-TraceId: 0af7651916cd43dd8448eb211c80319c\r\n"),
    "priority": get(b"Priority: u=1, i\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Mode: navigate\r\n"),
    "knative-fields": get(b"K-Proxy-Request: me\r\nK-Original-Host: o\r\nK-Passthrough-Lb: true\r\n"),
    "upgrade-refused": get(b"Upgrade: foo/2\r\nConnection: Upgrade\r\n"),
    "upgrade-accepted": [get(b"Upgrade: foo/2\r\nConnection: Upgrade\r\n", target=b"/c/101")[0], b"ping"],
    "upgrade-case": [get(b"uPGRADE: FOO/2\r\nConnection: keep-alive, UPGRADE\r\n", target=b"/c/101")[0], b"ping"],
    "upgrade-unnamed": get(b"Upgrade: foo/2\r\n"),
    "upgrade-h2c": get(b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings\r\n"),
    "upgrade-two": get(b"Upgrade: h2c, foo/2\r\nConnection: Upgrade\r\n"),
    "upgrade-post": get(b"Upgrade: foo/2\r\nConnection: Upgrade\r\nContent-Length: 5\r\n", method=b"POST", body=b"hello"),
    "upgrade-426": get(b"Upgrade: foo/1\r\nConnection: Upgrade\r\n", target=b"/c/426"),
    "upgrade-http-1.0": get(b"Upgrade: foo/2\r\nConnection: Upgrade\r\n", version=b"HTTP/1.0"),
}

# Of raw callers in HTTP/2: NAME: fields after :method, :scheme, :path and :authority, which they may replace; body, trailers.
HTTP2_REQUESTS = {
    "get": ([], None, []),
    "head": ([(":method", "HEAD")], None, []),
    "head-chunked": ([(":method", "HEAD"), (":path", "/c/chunked")], None, []),
    "post": ([(":method", "POST"), ("content-length", "5")], b"hello", []),
    "post-no-length": ([(":method", "POST")], b"hello", []),
    "post-empty": ([(":method", "POST"), ("content-length", "0")], None, []),
    "post-empty-no-length": ([(":method", "POST")], None, []),
    "post-empty-data": ([(":method", "POST")], b"", []),
    "post-trailers": ([(":method", "POST"), ("trailer", "x-sum")], b"hello", [("x-sum", "5")]),
    "post-413-early": ([(":method", "POST"), (":path", "/c/413-early"), ("content-length", "5")], b"hello", []),
    "post-expect": ([(":method", "POST"), ("expect", "100-continue"), ("content-length", "5")], b"hello", []),
    "get-with-body": ([("content-length", "5")], b"hello", []),
    "delete-with-body": ([(":method", "DELETE")], b"hello", []),
    "options": ([(":method", "OPTIONS")], None, []),
    "options-star": ([(":method", "OPTIONS"), (":path", "*")], None, []),
    "trace": ([(":method", "TRACE")], None, []),
    "method-own": ([(":method", "M-SEARCH")], None, []),
    "cookies-split": ([("cookie", "a=1"), ("x-a", "a"), ("cookie", "b=2")], None, []),
    "cookies-empty": ([("cookie", ""), ("cookie", "b=2")], None, []),
    "host-no-authority": ([(":authority", None), ("host", "raw.shop.svc.cluster.local")], None, []),
    "host-and-authority": ([("host", "raw.shop.svc.cluster.local")], None, []),
    "host-and-authority-port": ([("host", "raw.shop.svc.cluster.local:80")], None, []),
    "authority-upper": ([(":authority", "RAW.shop.svc.cluster.local")], None, []),
    "scheme-https": ([(":scheme", "https")], None, []),
    "te-trailers": ([("te", "trailers"), (":path", "/c/trailers")], None, []),
    "fields-repeated": ([("x-a", "1"), ("x-b", "b"), ("x-a", "2")], None, []),
    "fields-empty": ([("x-empty", ""), ("user-agent", ""), ("accept", "")], None, []),
    "fields-odd-names": ([("x_under", "u"), ("x.dot", "d"), ("!#$%&'*+-.^_`|~", "t")], None, []),
    "fields-latin": ([("x-latin", "caf\xe9")], None, []),
    "fields-many": ([(f"x-{i}", str(i)) for i in range(90)], None, []),
    "fields-very-many": ([(f"x-{i}", str(i)) for i in range(500)], None, []),
    "field-long": ([("x-long", "y" * 6000)], None, []),
    "field-very-long": ([("x-long", "y" * 60000)], None, []),
    "target-query": ([(":path", "/c/ok?a=1&a=2&b=%20%2F+c&=&;")], None, []),
    "target-two-slashes": ([(":path", "//c//ok")], None, []),
    "target-dots": ([(":path", "/a/../c/./ok")], None, []),
    "target-encoded": ([(":path", "/c/ok/%2f%2F%41%7e/%e2%82%ac")], None, []),
    "target-long": ([(":path", "/c/ok?" + "q" * 7000)], None, []),
    "forwarded": ([("forwarded", "for=192.0.2.60"), ("x-forwarded-for", "9.9.9.9")], None, []),
    "via": ([("via", "2 fred")], None, []),
    "priority": ([("priority", "u=1, i")], None, []),
    "never-indexed": ([("authorization", "Basic eDp5")], None, []),
    "traceparent": ([("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")], None, []),
    "early-reset-no-error": ([(":method", "POST"), (":path", "/c/reset-no-error")], b"hello", []),
}


def static(pod):
    """For pods that serve files."""
    host = f"Host: {pod}.shop.svc.cluster.local\r\n".encode()

    def of(fields=b"", target=b"/node.js", **more):
        return get(fields, target, host=host, **more)

    return {
        "get": of(), "head": of(method=b"HEAD"), "get-http-1.0": of(version=b"HTTP/1.0"), "folder": of(target=b"/"),
        "missing": of(target=b"/missing"), "head-missing": of(target=b"/missing", method=b"HEAD"), "range": of(b"Range: bytes=0-9\r\n"),
        "ranges": of(b"Range: bytes=0-9,20-29\r\n"), "range-beyond": of(b"Range: bytes=999999-\r\n"),
        "not-modified": of(b"If-Modified-Since: Sun, 06 Nov 2044 08:49:37 GMT\r\n"), "match": of(b'If-Match: "x"\r\n'),
        "post": of(b"Content-Length: 5\r\n", method=b"POST", body=b"hello"), "options": of(method=b"OPTIONS"),
        "put-chunks": of(b"Transfer-Encoding: chunked\r\n", method=b"PUT", body=CHUNKS), "close": of(b"Connection: close\r\n"),
        "encoding": of(b"Accept-Encoding: gzip, identity;q=0\r\n"), "pipelined": [of()[0] * 2],
    }
