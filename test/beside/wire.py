"""What was said over a connection: HTTP/1 and HTTP/2 as both ends may have meant it, read leniently from the bytes."""
import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAMES = ("DATA HEADERS PRIORITY RST_STREAM SETTINGS PUSH_PROMISE PING GOAWAY WINDOW_UPDATE CONTINUATION").split()


class Message:
    """A request or a response. Fields and trailers are pairs, in order; the framing is what ended the body."""

    def __init__(self, start, fields=()):
        self.start, self.fields = start, list(fields)
        self.body, self.trailers, self.extensions, self.framing, self.complete = b"", [], [], "none", False

    def get(self, name):
        return [value for key, value in self.fields if key.lower() == name]


def lines(data, at):
    """The lines up to an empty one, and where they end; None while it is missing."""
    found = []
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            return None, at
        line = data[at:end]
        at = end + 1
        if line in (b"", b"\r"):
            return found, at
        found.append(line.removesuffix(b"\r").decode("latin-1"))


def pairs(texts):
    fields = []
    for text in texts:
        if text[:1] in " \t" and fields:
            fields[-1] = (fields[-1][0], fields[-1][1] + " " + text.strip())
        else:
            name, _, value = text.partition(":")
            fields.append((name, value.strip(" \t")))
    return fields


def http1(data, methods=None, ended=False):
    """All messages of one direction; with methods they are responses to these. What follows a 101 is one message."""
    messages, at = [], 0
    waiting = list(methods) if methods is not None else None
    while at < len(data):
        while data[at:at + 2] == b"\r\n" and methods is None:
            at += 2
        begin = at
        head, at = lines(data, at)
        if head is None or not head:
            if data[begin:]:
                messages.append(Message("?" + data[begin:].decode("latin-1")))
            break
        message = Message(head[0], pairs(head[1:]))
        messages.append(message)
        method = None
        if waiting is not None:
            status = (head[0].split(" ") + ["", ""])[1]
            if status.startswith("1") and status != "101":
                message.complete = True
                continue
            method = waiting.pop(0) if waiting else "GET"
            if method == "HEAD" or status in ("204", "304"):
                message.complete = True
                continue
            if status == "101" or method == "CONNECT" and status.startswith("2"):
                message.framing, message.body, message.complete = "tunnel", data[at:], ended
                break
        coding, length = message.get("transfer-encoding"), message.get("content-length")
        if coding and coding[-1].lower().endswith("chunked"):
            message.framing = "chunked"
            at = chunks(data, at, message)
        elif length and length[0].isdigit():
            message.framing = "length"
            message.body = data[at:at + int(length[0])]
            at += len(message.body)
            message.complete = len(message.body) == int(length[0])
        elif waiting is not None:
            message.framing, message.body, message.complete = "close", data[at:], ended
            break
        else:
            message.complete = True
            if any("upgrade" in value.lower() for value in message.get("connection")):
                message.framing, message.body = "tunnel", data[at:]
                break
        if not message.complete:
            break
    return messages


def chunks(data, at, message):
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            return at
        size, _, extension = data[at:end].decode("latin-1").strip().partition(";")
        if extension:
            message.extensions.append(extension)
        at = end + 1
        try:
            size = int(size, 16)
        except ValueError:
            return at
        if size == 0:
            trailers, at = lines(data, at)
            if trailers is not None:
                message.trailers, message.complete = pairs(trailers), True
            return at
        message.body += data[at:at + size]
        at += size + 2


class Http2:
    """One direction of a connection. Its messages stay by stream; the log has all frames."""

    def __init__(self, preface):
        self.rest, self.preface = b"", preface
        self.decoder = hpack.Decoder()
        self.decoder.max_allowed_table_size = 1 << 20
        self.messages, self.log, self.block = [], [], None
        self.table_size = None
        self.by_stream = {}

    def feed(self, data):
        self.rest += data
        if self.preface and self.rest.startswith(PREFACE):
            self.rest, self.preface = self.rest[len(PREFACE):], False
        while len(self.rest) >= 9:
            length = int.from_bytes(self.rest[:3], "big")
            if len(self.rest) < 9 + length:
                return
            kind, flags, stream = self.rest[3], self.rest[4], int.from_bytes(self.rest[5:9], "big") & 0x7FFFFFFF
            payload, self.rest = self.rest[9:9 + length], self.rest[9 + length:]
            self.frame(kind, flags, stream, payload)

    def frame(self, kind, flags, stream, payload):
        name = FRAMES[kind] if kind < len(FRAMES) else f"0x{kind:x}"
        note = ""
        if kind in (0, 1) and flags & 8:
            payload = payload[1:len(payload) - payload[0]]
        if kind == 1:
            if flags & 0x20:
                payload = payload[5:]
            self.block = [stream, flags, b""]
        if kind in (1, 9):
            self.block[2] += payload
            if flags & 4:
                note = self.head(*self.block)
        elif kind == 0 and stream in self.by_stream:
            message = self.by_stream[stream]
            message.body += payload
            message.framing = "data"
            message.complete |= bool(flags & 1)
            note = repr(payload[:200])[2:-1]
        elif kind == 3 and stream in self.by_stream:
            note = f"code {int.from_bytes(payload, 'big')}"
            self.by_stream[stream].framing += f" reset {int.from_bytes(payload, 'big')}"
        elif kind == 3:
            note = f"code {int.from_bytes(payload, 'big')}"
            self.messages.append(Message("reset " + str(int.from_bytes(payload, "big"))))
        elif kind == 4:
            settings = {int.from_bytes(payload[at:at + 2], "big"): int.from_bytes(payload[at + 2:at + 6], "big") for at in range(0, len(payload), 6)}
            self.table_size = settings.get(1, self.table_size)
            note = str(settings or "")
        elif kind == 7:
            note = f"code {int.from_bytes(payload[4:8], 'big')} {payload[8:].decode('latin-1')}"
            if int.from_bytes(payload[4:8], "big"):
                self.messages.append(Message("goaway " + str(int.from_bytes(payload[4:8], "big"))))
        self.log.append(f"{name} stream {stream} flags {flags:x} {note}".rstrip())

    def head(self, stream, flags, block):
        fields = [(name.decode("latin-1"), value.decode("latin-1"))
                  for name, value in self.decoder.decode(block, raw=True)]
        special = {name: value for name, value in fields if name.startswith(":")}
        plain = [(name, value) for name, value in fields if not name.startswith(":")]
        status = special.get(":status")
        known = self.by_stream.get(stream)
        if known and not special:
            known.trailers, known.complete = plain, True
        else:
            start = f"HTTP/2 {status}" if status else \
                f"{special.get(':method')} {special.get(':path')} HTTP/2"
            message = Message(start, [(name, value) for name, value in fields
                                      if name in (":authority", ":protocol")] + plain)
            message.complete = bool(flags & 1) or bool(status and status.startswith("1"))
            self.messages.append(message)
            self.by_stream[stream] = message
        return "; ".join(f"{name}: {value}" for name, value in fields)


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
