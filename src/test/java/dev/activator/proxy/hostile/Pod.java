package dev.activator.proxy.hostile;

import dev.activator.proxy.hostile.PodScript.Cut;
import dev.activator.proxy.hostile.PodScript.Framing;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.network.SimulatedPeer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

/** The pod of a sequence, on all its connections. */
final class Pod {
  /** One request as the pod sees it. */
  static final class Served {
    final int index;
    final int attempt;
    final PodScript script;
    final Message request;
    final int stream;
    int done;
    boolean cut;
    boolean over;
    /** False once the pod has said that it did nothing. */
    boolean processed = true;

    private Served(int index, int attempt, PodScript script, Message request, int stream) {
      this.index = index;
      this.attempt = attempt;
      this.script = script;
      this.request = request;
      this.stream = stream;
    }

    CallerScript.Method method() {
      return CallerScript.Method.valueOf(methodText());
    }

    private String methodText() {
      String method = request.field(":method");
      return method == null ? request.start.split(" ")[0] : method;
    }

    private boolean mayBegin() {
      return switch (script.begin()) {
        case AT_HEAD -> true;
        case AT_BODY -> request.body.size() > 0 || request.complete;
        case AT_END -> request.complete;
        case NEVER -> false;
      };
    }
  }

  final List<Served> served = new ArrayList<>();
  /** What came of other protocols, by the exchange. */
  final Map<Integer, Http1Reader> tunnels = new HashMap<>();
  private final Sequence sequence;
  private final Random random;
  private final Consumer<String> story;
  private final List<Connection> connections = new ArrayList<>();
  private final Map<Integer, Integer> attempts = new HashMap<>();

  Pod(Sequence sequence, Random random, Consumer<String> story) {
    this.sequence = sequence;
    this.random = random;
    this.story = story;
  }

  void accept(SimulatedPeer peer) {
    story.accept("pod accepts a connection");
    boolean http2 = sequence.version().isHttp2() != sequence.podSpeaksOther();
    connections.add(http2 ? new Http2Connection(peer) : new Http1Connection(peer));
  }

  /** Whether anything had come. */
  boolean read() {
    boolean any = false;
    for (var connection : connections) {
      any |= connection.read();
    }
    return any;
  }

  boolean step() {
    int first = connections.isEmpty() ? 0 : random.nextInt(connections.size());
    for (int i = 0; i < connections.size(); i++) {
      if (connections.get((first + i) % connections.size()).step()) {
        return true;
      }
    }
    return false;
  }

  private Served serve(String path, Message request, int stream) {
    int index = Integer.parseInt(path.substring(1));
    int attempt = attempts.merge(index, 1, Integer::sum);
    var script = attempt == 1 && index < sequence.plans().size()
        ? sequence.plans().get(index).first()
        : PodScript.ok();
    var one = new Served(index, attempt, script, request, stream);
    served.add(one);
    story.accept("pod sees " + one.methodText() + " /" + index + ", copy " + attempt);
    return one;
  }

  private abstract class Connection {
    final SimulatedPeer peer;

    private Connection(SimulatedPeer peer) {
      this.peer = peer;
    }

    abstract boolean read();

    abstract boolean step();

    /** Does the next thing for a request. */
    boolean step(Served one) {
      if (one.over || !one.mayBegin() || peer.isGone()) {
        return false;
      }
      if (!one.cut && one.script.cut() != Cut.NONE && one.done >= one.script.cutAfter()) {
        one.cut = true;
        story.accept("pod of /" + one.index + " " + one.script.cut());
        cut(one);
        return true;
      }
      if (one.done == one.script.steps(one.method())) {
        one.over = true;
        return false;
      }
      story.accept("pod of /" + one.index + " sends step " + one.done);
      flood(one.script.floods());
      respond(one, one.done++);
      return true;
    }

    private void cut(Served one) {
      switch (one.script.cut()) {
        case ENDS_OUTPUT -> peer.endOutput();
        case CLOSES -> peer.close();
        case RESETS -> peer.reset();
        case RESETS_AT_ONCE -> peer.resetAtOnce();
        case FALLS_SILENT -> one.over = true;
        case RESETS_STREAM, GOES_AWAY, GOES_AWAY_BELOW -> cutStream(one);
        case NONE -> throw new IllegalStateException();
      }
      one.over |= one.script.cut().endsConnection();
    }

    private void respond(Served one, int step) {
      int interims = one.script.interims().size();
      int part = step - interims - 1;
      if (step < interims) {
        interim(one, one.script.interims().get(step));
      } else if (part < 0) {
        head(one);
      } else if (part < one.script.parts()) {
        part(one, Contents.response(one.index, part * one.script.partBytes(),
            (part + 1) * one.script.partBytes()), part);
      } else {
        end(one);
      }
    }

    abstract void flood(int frames);

    abstract void cutStream(Served one);

    abstract void interim(Served one, int status);

    abstract void head(Served one);

    abstract void part(Served one, byte[] bytes, int part);

    abstract void end(Served one);
  }

  private final class Http1Connection extends Connection {
    private final Http1Reader reader = new Http1Reader(false);
    private int seen;
    private Served current;
    private boolean refused;

    private Http1Connection(SimulatedPeer peer) {
      super(peer);
    }

    @Override
    boolean read() {
      boolean takes = current == null || current.script.takes() || current.request.complete;
      if (peer.unread() == 0 || !takes || peer.isGone()) {
        return false;
      }
      byte[] bytes = peer.read();
      if (sequence.podSpeaksOther()) {
        refuse();
        return true;
      }
      reader.read(bytes);
      if (seen < reader.messages.size()) {
        var request = reader.messages.get(seen++);
        current = serve(request.start.split(" ")[1], request, 0);
      }
      return true;
    }

    private void refuse() {
      if (!refused) {
        refused = true;
        peer.send(Contents.ascii("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
        peer.endOutput();
      }
    }

    @Override
    boolean step() {
      return current != null && step(current);
    }

    @Override
    void flood(int frames) {
      // HTTP/1 has none.
    }

    @Override
    void cutStream(Served one) {
      throw new IllegalStateException();
    }

    @Override
    void interim(Served one, int status) {
      peer.send(Contents.ascii("HTTP/1.1 " + status + " Interim\r\n\r\n"));
    }

    @Override
    void head(Served one) {
      var script = one.script;
      String start = "HTTP/1.1 " + (script.switches() ? 101 : script.status())
          + " Status\r\nX-Pod: " + one.index + "-" + one.attempt + "\r\n";
      boolean bodyless = script.status() == 204 || script.status() == 205;
      String framing = script.switches()
          ? "Connection: Upgrade\r\nUpgrade: echo\r\n"
          : bodyless
              ? script.status() == 205 ? "Content-Length: 0\r\n" : ""
              : script.framing() == Framing.LENGTH
                  ? "Content-Length: " + script.parts() * script.partBytes() + "\r\n"
                  : script.framing() == Framing.STREAM ? "Transfer-Encoding: chunked\r\n" : "";
      peer.send(Contents.ascii(start + framing + "\r\n"));
      if (script.switches()) {
        reader.switchProtocol();
        tunnels.put(one.index, reader);
      }
    }

    @Override
    void part(Served one, byte[] bytes, int part) {
      peer.send(one.script.framing() == Framing.STREAM ? Contents.chunk(bytes) : bytes);
    }

    @Override
    void end(Served one) {
      switch (one.script.framing()) {
        case LENGTH -> {
          // The last part was the end.
        }
        case STREAM -> peer.send(Contents.ascii("0\r\n" + (one.script.trailers()
            ? Contents.TRAILER + ": " + Contents.trailer(one.index) + "\r\n"
            : "") + "\r\n"));
        case CONNECTION -> peer.endOutput();
      }
    }
  }

  private final class Http2Connection extends Connection {
    private final Http2Reader reader;
    private final List<Served> streams = new ArrayList<>();
    private int lastServed = Integer.MAX_VALUE;
    private int stepsUntilSettings = random.nextInt(20);

    private Http2Connection(SimulatedPeer peer) {
      super(peer);
      reader = new Http2Reader(peer::send, false, sequence.podGrants(), sequence.podWindow());
    }

    /** Its SETTINGS come before all else, but not at once. */
    private boolean open() {
      if (stepsUntilSettings-- == 0) {
        story.accept("pod sends its SETTINGS");
        reader.settings(RawHttp2.MAX_CONCURRENT_STREAMS, sequence.podStreams(),
            RawHttp2.INITIAL_WINDOW_SIZE, sequence.podWindow());
      }
      return true;
    }

    @Override
    boolean read() {
      if (peer.unread() == 0 || peer.isGone() || stepsUntilSettings >= 0) {
        return false;
      }
      byte[] bytes = peer.read();
      if (sequence.podSpeaksOther()) {
        // It has sent its SETTINGS, and reads no HTTP/1.
        peer.endOutput();
        return true;
      }
      reader.read(bytes);
      reader.messages.forEach((stream, request) -> {
        if (request.hasHead && stream <= lastServed
            && streams.stream().noneMatch(one -> one.stream == stream)) {
          streams.add(serve(request.start, request, stream));
          checkLimit();
        }
      });
      return true;
    }

    private void checkLimit() {
      long open = streams.stream()
          .filter(one -> one.request.reset == Message.NOT_RESET && !isClosed(one)).count();
      if (open > sequence.podStreams()) {
        throw new AssertionError(open + " streams where the pod allows " + sequence.podStreams());
      }
    }

    private boolean isClosed(Served one) {
      return one.request.complete && one.done == one.script.steps(one.method())
          || one.cut && one.script.cut() == Cut.RESETS_STREAM || !one.processed;
    }

    @Override
    boolean step() {
      if (stepsUntilSettings >= 0 && !peer.isGone()) {
        return open();
      }
      int first = streams.isEmpty() ? 0 : random.nextInt(streams.size());
      for (int i = 0; i < streams.size(); i++) {
        var one = streams.get((first + i) % streams.size());
        if (one.request.reset == Message.NOT_RESET && one.stream <= lastServed && step(one)) {
          return true;
        }
      }
      return false;
    }

    @Override
    void flood(int frames) {
      reader.flood(frames);
    }

    @Override
    void cutStream(Served one) {
      switch (one.script.cut()) {
        case RESETS_STREAM -> {
          one.over = true;
          one.processed = one.done > 0 || !one.script.refusesStream();
          reader.number(RawHttp2.RST_STREAM, one.stream, one.script.code());
        }
        case GOES_AWAY -> {
          lastServed = Math.min(lastServed, streams.getLast().stream);
          reader.goAway(lastServed);
        }
        default -> {
          lastServed = one.stream - 2;
          reader.goAway(Math.max(0, lastServed));
          streams.stream().filter(other -> other.stream > lastServed).forEach(other -> {
            other.over = true;
            other.processed = false;
          });
        }
      }
    }

    @Override
    void interim(Served one, int status) {
      reader.headers(one.stream, false, ":status", String.valueOf(status));
    }

    @Override
    void head(Served one) {
      var script = one.script;
      boolean last = one.done == script.steps(one.method());
      var fields = new ArrayList<>(
          List.of(":status", String.valueOf(script.switches() ? 101 : script.status()), "x-pod",
              one.index + "-" + one.attempt));
      if (script.framing() == Framing.LENGTH && !script.isBodyless(one.method())) {
        fields
            .addAll(List.of("content-length", String.valueOf(script.parts() * script.partBytes())));
      }
      reader.headers(one.stream, last && !script.switches(), fields.toArray(String[]::new));
    }

    @Override
    void part(Served one, byte[] bytes, int part) {
      if (one.script.emptyParts()) {
        reader.data(one.stream, false, new byte[0]);
      }
      reader.data(one.stream, false, bytes);
    }

    @Override
    void end(Served one) {
      if (one.script.trailers()) {
        reader.headers(one.stream, true, Contents.TRAILER, Contents.trailer(one.index));
      } else {
        reader.data(one.stream, true, new byte[0]);
      }
    }
  }
}
