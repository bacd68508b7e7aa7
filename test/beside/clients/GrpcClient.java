import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** gRPC's client in Java: reads URLs whose last part names the case of grpc.js, and writes one line for each. */
public class GrpcClient {
  record Case(String method, MethodType type, int deadlineMillis, boolean cancels, boolean metadata, List<String> messages) {
    static Case unary(String... messages) {
      return new Case("Unary", MethodType.UNARY, 2000, false, false, List.of(messages));
    }

    static Case stream(String method, MethodType type, String... messages) {
      return new Case(method, type, 2000, false, false, List.of(messages));
    }

    static Case of(String name) {
      return switch (name) {
        case "unary" -> unary("hello");
        case "empty" -> unary("");
        case "upload" -> unary("u".repeat(300_000));
        case "deadline" -> new Case("Unary", MethodType.UNARY, 200, false, false, List.of("slow"));
        case "cancel" -> new Case("Unary", MethodType.UNARY, 2000, true, false, List.of("slow"));
        case "metadata" -> new Case("Unary", MethodType.UNARY, 2000, false, true, List.of("hello"));
        case "server" -> stream("Server", MethodType.SERVER_STREAMING, "ok");
        case "server-error" -> stream("Server", MethodType.SERVER_STREAMING, "error");
        case "client" -> stream("Client", MethodType.CLIENT_STREAMING, "a", "b", "c");
        case "both" -> stream("Both", MethodType.BIDI_STREAMING, "a", "bb", "");
        case "both-empty" -> stream("Both", MethodType.BIDI_STREAMING);
        case "unknown" -> stream("None", MethodType.UNARY, "");
        default -> unary(name);
      };
    }
  }

  private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (java.io.IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  };

  public static void main(String[] args) throws Exception {
    var out = System.out;
    System.setOut(System.err); // for what libraries log
    var channels = new HashMap<String, ManagedChannel>();
    for (var line = IO.readln(); line != null; line = IO.readln()) {
      var url = URI.create(line);
      var channel = channels.computeIfAbsent(url.getAuthority(), it -> ManagedChannelBuilder.forTarget(it).usePlaintext().build());
      out.println(call(channel, Case.of(url.getPath().substring(url.getPath().lastIndexOf('/') + 1))));
    }
  }

  static String call(ManagedChannel channel, Case one) throws Exception {
    var method = MethodDescriptor.newBuilder(BYTES, BYTES).setFullMethodName("beside.Echo/" + one.method()).setType(one.type()).build();
    var call = channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(one.deadlineMillis(), TimeUnit.MILLISECONDS));
    var end = new CompletableFuture<String>();
    var seen = new StringBuilder();
    var metadata = new Metadata();
    if (one.metadata()) {
      metadata.put(Metadata.Key.of("x-text", Metadata.ASCII_STRING_MARSHALLER), "a, b");
      metadata.put(Metadata.Key.of("x-data-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {0, 1, -1});
    }
    call.start(new ClientCall.Listener<byte[]>() {
      @Override
      public void onHeaders(Metadata headers) {
        seen.append(" head ").append(names(headers));
      }

      @Override
      public void onMessage(byte[] message) {
        seen.append(' ').append(message.length);
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        var details = status.getDescription();
        end.complete(status.getCode() + " " + (details != null && details.contains("eadline") ? "deadline" : details) + seen + " " + names(trailers));
      }
    }, metadata);
    call.request(100);
    for (var message : one.messages()) {
      call.sendMessage(message.getBytes());
    }
    call.halfClose();
    if (one.cancels()) {
      Thread.sleep(50);
      call.cancel("as planned", null);
    }
    return end.get(10, TimeUnit.SECONDS).replaceAll("\\R", " ");
  }

  static TreeSet<String> names(Metadata metadata) {
    var names = new TreeSet<>(metadata.keys());
    names.removeIf(name -> !name.startsWith("x-"));
    return names;
  }
}
