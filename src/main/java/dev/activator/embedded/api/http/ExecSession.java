package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.Json;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The session of {@code kubectl exec}: it runs one command in the environment of a pod's process.
 * The first byte of each message is its channel. The last message is a Status, on the error
 * channel.
 *
 * <p><b>Threads.</b> Pipes are read and written on other threads, which may block.
 *
 * <p><b>Source.</b> {@code remotecommand/websocket.go} in Kubernetes' apimachinery and client-go.
 */
final class ExecSession {
  /** The supported protocols. Only the first can end the input. */
  static final List<String> PROTOCOLS = List.of("v5.channel.k8s.io", "v4.channel.k8s.io");
  private static final int INPUT = 0;
  private static final int OUTPUT = 1;
  private static final int ERROR_OUTPUT = 2;
  private static final int STATUS = 3;
  private static final int CLOSE = 255;
  private static final int BUFFER_BYTES = 16 * 1024;

  private final WebSocketSession session;
  private final ProcessBuilder command;
  private final boolean hasInput;

  ExecSession(WebSocketSession session, ProcessBuilder command, boolean hasInput) {
    this.session = session;
    this.command = command;
    this.hasInput = hasInput;
  }

  Mono<Void> run() {
    return Mono.fromCallable(this::start).subscribeOn(Schedulers.boundedElastic())
        .flatMap(this::converse)
        .onErrorResume(IOException.class, e -> send(Flux.just(status(String.valueOf(
            e.getMessage()), "InternalError", ""))));
  }

  private Process start() throws IOException {
    var process = command.start();
    if (!hasInput) {
      process.getOutputStream().close();
    }
    return process;
  }

  private Mono<Void> converse(Process process) {
    var reading = session.receive().doOnNext(WebSocketMessage::retain)
        .publishOn(Schedulers.boundedElastic(), 1)
        .doOnNext(message -> input(process, message))
        .doFinally(_ -> kill(process)).then();
    // An empty message shows the client that the command runs.
    var begun = Flux.just(message(OUTPUT, new byte[0]));
    var output = Flux.merge(read(process.getInputStream(), OUTPUT),
        read(process.getErrorStream(), ERROR_OUTPUT));
    var ended = Mono.fromFuture(process::onExit).map(Process::exitValue).map(ExecSession::status);
    return Mono.when(reading, send(begun.concatWith(output)
        .concatWith(ended.map(status -> message(STATUS, status)))));
  }

  private Mono<Void> send(Flux<WebSocketMessage> messages) {
    return session.send(messages).then(session.close(CloseStatus.NORMAL));
  }

  private static void input(Process process, WebSocketMessage message) {
    var payload = message.getPayload();
    try {
      int channel = payload.readableByteCount() == 0 ? -1 : payload.read() & 0xff;
      if (channel == INPUT) {
        payload.asInputStream().transferTo(process.getOutputStream());
        process.getOutputStream().flush();
      } else if (channel == CLOSE && payload.readableByteCount() > 0 && payload.read() == INPUT) {
        process.getOutputStream().close();
      }
    } catch (IOException _) {
      // The command does not read its input any more.
    } finally {
      message.release();
    }
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private Flux<WebSocketMessage> read(InputStream output, int channel) {
    return Flux.<byte[]>generate(sink -> {
      var bytes = new byte[BUFFER_BYTES];
      try {
        int length = output.read(bytes);
        if (length < 0) {
          sink.complete();
        } else {
          sink.next(Arrays.copyOf(bytes, length));
        }
      } catch (IOException _) {
        sink.complete();
      }
    }).subscribeOn(Schedulers.boundedElastic()).map(bytes -> message(channel, bytes));
  }

  private WebSocketMessage message(int channel, byte[] bytes) {
    DataBuffer payload = session.bufferFactory().allocateBuffer(bytes.length + 1);
    payload.write((byte) channel).write(bytes);
    return new WebSocketMessage(WebSocketMessage.Type.BINARY, payload);
  }

  private WebSocketMessage status(String message, String reason, String code) {
    return message(STATUS, failure(message, reason, code));
  }

  private static byte[] status(int exit) {
    if (exit != 0) {
      return failure("command terminated with non-zero exit code: exit status " + exit,
          "NonZeroExitCode", Integer.toString(exit));
    }
    var status = Json.object();
    status.putObject("metadata");
    return Json.bytes(status.put("status", "Success"));
  }

  /** @param exit the exit code; empty if the command did not run */
  private static byte[] failure(String message, String reason, String exit) {
    var status = Json.object().put("status", "Failure").put("message", message).put("reason",
        reason);
    status.putObject("metadata");
    if (!exit.isEmpty()) {
      status.putObject("details").putArray("causes").addObject().put("reason", "ExitCode")
          .put("message", exit);
    }
    return Json.bytes(status);
  }
}
