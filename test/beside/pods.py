"""The raw pod, which plays the responses of cases.py in both versions of HTTP, and relays that keep what passes."""
import asyncio
import re
import threading
import time

import hpack

import cases
import wire

MAX_FRAME = 16384
PREFIX = wire.PREFACE[:3]
PROBE_ANSWER = b"HTTP/1.1 200 OK\r\nK-Network-Hash: x\r\nContent-Length: 5\r\n\r\nqueue"


class Recorder:
    """The bytes of both directions of a relay's connections, since the last call of take()."""

    def __init__(self):
        self.connections, self.last = [], 0.0

    def take(self):
        """Messages by direction and the log; connections that said nothing are left out."""
        there, back, log = [], [], []
        for one in list(self.connections):
            there_now, back_now = one.messages()
            there += there_now
            back += back_now
            log += one.log()
            one.reset()
            if all(one.over):
                self.connections.remove(one)
        return there, back, log


class Recorded:
    def __init__(self):
        self.said = [bytearray(), bytearray()]
        self.over = [False, False]
        self.how = [None, None]
        self.http2 = None

    def add(self, direction, data):
        if self.http2 is None and direction == 0:
            self.http2 = [wire.Http2(True), wire.Http2(False)] if data[:3] == PREFIX else False
        self.said[direction] += data
        if self.http2:
            self.http2[direction].feed(data)

    def messages(self):
        if self.http2:
            return [list(way.messages) for way in self.http2]
        requests = wire.http1(bytes(self.said[0]))
        methods = [one.start.split(" ")[0] for one in requests]
        return requests, wire.http1(bytes(self.said[1]), methods, self.over[1])

    def log(self):
        if not self.said[0] and not self.said[1]:
            return []
        if self.http2:
            return [f"{arrow} {line}" for arrow, way in zip("><", self.http2) for line in way.log]
        return [f"{arrow} {repr(bytes(way))[2:-1]}" + (f" [{how}]" if how else "")
                for arrow, way, how in zip("><", self.said, self.how)]

    def reset(self):
        self.said = [bytearray(), bytearray()]
        if self.http2:
            for way in self.http2:
                way.messages, way.log = [], []


class Relay:
    """Passes bytes and ends of connections on unchanged, and answers probes of activators as a queue-proxy does."""

    def __init__(self, port, target):
        self.port, self.target, self.recorder = port, target, Recorder()

    async def start(self):
        await asyncio.start_server(self.accept, "127.0.0.1", self.port)

    async def accept(self, reader, writer):
        recorded = Recorded()
        self.recorder.connections.append(recorded)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            recorded.over = [True, True]
            return
        await asyncio.gather(self.copy(recorded, 0, reader, far_writer, writer), self.copy(recorded, 1, far_reader, writer, None))
        for one in (writer, far_writer):
            one.close()

    async def copy(self, recorded, direction, reader, writer, back):
        try:
            while data := await reader.read(65536):
                if direction == 0 and b"\nk-network-probe:" in data.lower():
                    back.write(PROBE_ANSWER)
                    continue
                recorded.add(direction, data)
                self.recorder.last = time.monotonic()
                writer.write(data)
            recorded.how[direction] = "FIN"
            if writer.can_write_eof():
                writer.write_eof()
        except OSError:
            recorded.how[direction] = "RST"
            writer.transport.abort()
        recorded.over[direction] = True
        self.recorder.last = time.monotonic()


def case_of(path):
    found = re.search(r"/c/([\w.-]+)", path)
    return cases.RESPONSES.get(found.group(1) if found else "ok", cases.RESPONSES["ok"])


async def pod(reader, writer):
    """One connection: requests one after the other, or HTTP/2."""
    try:
        data = await reader.read(65536)
        while data and len(data) < 3:
            data += await reader.read(65536)
        if data[:3] == PREFIX:
            await Http2Pod(writer).serve(reader, data)
        else:
            await http1_pod(reader, writer, data)
    except OSError:
        pass
    finally:
        writer.close()


async def http1_pod(reader, writer, data):
    while True:
        while b"\r\n\r\n" not in data:
            more = await reader.read(65536)
            if not more:
                return
            data += more
        request = wire.http1(data)[0]
        response = case_of(request.start)
        if "100-continue" in "".join(request.get("expect")).lower() and not response.early:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not response.early and not wire.http1(data)[0].complete:
            more = await reader.read(65536)
            if not more:
                return
            data += more
        for part in response.http1(request.start.split(" ")[0]):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.02)
        if response.tunnel:
            while more := await reader.read(65536):
                writer.write(more)
            return
        if response.close:
            return
        data = b""


class Http2Pod:
    def __init__(self, writer):
        self.writer, self.encoder, self.heard = writer, hpack.Encoder(), wire.Http2(True)

    def send(self, kind, flags, stream, payload=b""):
        self.writer.write(wire.frame(kind, flags, stream, payload))

    def head(self, stream, fields, last=False):
        block = self.encoder.encode(fields, huffman=False)
        pieces = [block[at:at + MAX_FRAME] for at in range(0, len(block), MAX_FRAME)]
        for number, piece in enumerate(pieces):
            self.send(9 if number else 1, 4 * (number == len(pieces) - 1) | (last and not number), stream, piece)

    async def serve(self, reader, data):
        self.send(4, 0, 0)
        self.send(8, 0, 0, (1 << 24).to_bytes(4, "big"))
        answered, acknowledged, received = set(), 0, {}
        while data:
            self.heard.feed(data)
            settings = sum(line.startswith("SETTINGS stream 0 flags 0") for line in self.heard.log)
            pings = [line for line in self.heard.log if line.startswith("PING stream 0 flags 0")]
            for _ in range(settings - acknowledged):
                self.send(4, 1, 0)
            if settings > acknowledged and self.heard.table_size is not None:
                self.encoder.header_table_size = min(self.heard.table_size, 4096)
            acknowledged = settings
            for _ in pings:
                self.send(6, 1, 0, bytes(8))
            self.heard.log = [line for line in self.heard.log if line not in pings]
            for stream, request in list(self.heard.by_stream.items()):
                new = len(request.body) - received.get(stream, 0)
                if new:
                    received[stream] = len(request.body)
                    self.send(8, 0, stream, new.to_bytes(4, "big"))
                response = case_of(request.start)
                if stream not in answered and (request.complete or response.early):
                    answered.add(stream)
                    await self.answer(stream, request, response)
            await self.writer.drain()
            data = await reader.read(65536)

    async def answer(self, stream, request, response):
        for status, fields in response.interim:
            self.head(stream, [(":status", str(status))] + lower(fields))
        body = b"" if request.start.startswith("HEAD ") else response.body
        last = not body and not response.trailers
        self.head(stream, [(":status", str(response.status))] + lower(response.http2_fields(request.start)), last)
        await self.writer.drain()
        await asyncio.sleep(0.01)
        if body:
            for at in range(0, len(body), MAX_FRAME):
                self.send(0, int(at + MAX_FRAME >= len(body) and not response.trailers), stream, body[at:at + MAX_FRAME])
        if response.trailers:
            self.head(stream, lower(response.trailers), True)
        if response.reset is not None:
            self.send(3, 0, stream, response.reset.to_bytes(4, "big"))


def lower(fields):
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in fields]


def start(relays, pod_ports):
    """Serves on a thread of its own."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def begin():
        for port in pod_ports:
            await asyncio.start_server(pod, "127.0.0.1", port)
        for relay in relays:
            await relay.start()
        ready.set()

    threading.Thread(target=lambda: (loop.create_task(begin()), loop.run_forever()), daemon=True).start()
    ready.wait()
