package dev.activator.ext.profiling;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Records this process with Java Flight Recorder for the requested seconds, and sends the {@code
 * .jfr} file.
 *
 * <p><b>Threads.</b> Event loops may call it; it does not block them.
 *
 * <p><b>Errors.</b> 400 for an invalid length; 503 during another recording, or without a writable
 * directory for temporary files.
 */
public final class FlightRecordingHandler {
  private static final Logger log = LoggerFactory.getLogger(FlightRecordingHandler.class);
  private static final int DEFAULT_SECONDS = 30;
  private static final int MAX_SECONDS = 600;
  private static final int CHUNK_BYTES = 64 << 10;

  private final AtomicBoolean busy = new AtomicBoolean();

  Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
    int seconds = seconds(request.uri());
    if (seconds < 1) {
      return refuse(response, 400, "seconds must be a whole number, 1 to " + MAX_SECONDS);
    }
    if (busy.getAndSet(true)) {
      return refuse(response, 503, "another recording is running");
    }
    return during(FlightRecordingHandler::begin,
        recording -> send(recording, Duration.ofSeconds(seconds), response))
        .onErrorResume(IllegalStateException.class,
            impossible -> Mono.from(refuse(response, 503, String.valueOf(impossible.getMessage()))))
        .doFinally(_ -> busy.set(false));
  }

  /** Uses a recording, and closes it even if the caller leaves while it begins. */
  static Mono<Void> during(Callable<Recording> begin, Function<Recording, Mono<Void>> use) {
    return Mono.using(begin, use, Recording::close).subscribeOn(Schedulers.boundedElastic());
  }

  private static int seconds(String uri) {
    var text = new QueryStringDecoder(uri).parameters().getOrDefault("seconds",
        List.of(String.valueOf(DEFAULT_SECONDS))).getFirst();
    try {
      int seconds = Integer.parseInt(text);
      return seconds <= MAX_SECONDS ? seconds : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static Publisher<Void> refuse(HttpServerResponse response, int status, String why) {
    return response.status(status)
        .header(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
        .sendString(Mono.just(why + "\n"));
  }

  private static Recording begin() {
    try {
      var recording = new Recording(Configuration.getConfiguration("profile"));
      recording.start();
      return recording;
    } catch (IOException | ParseException | RuntimeException | Error e) {
      log.info("Cannot record a profile: {}", e.toString());
      throw new IllegalStateException("this process cannot record: it may have no directory for "
          + "temporary files that it can write to, see docs/operations.md", e);
    }
  }

  private static Mono<Void> send(Recording recording, Duration length,
      HttpServerResponse response) {
    response.header(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream");
    response.header(HttpHeaderNames.CONTENT_DISPOSITION, "attachment; filename=\"activator.jfr\"");
    // Sends the headers at once, because otherwise the server would seem to hang during the
    // recording.
    return Mono.from(response.sendHeaders())
        .then(Mono.delay(length, Schedulers.boundedElastic()))
        .then(Mono
            .from(response.send(Flux.using(() -> ended(recording), FlightRecordingHandler::chunks,
                FlightRecordingHandler::close))));
  }

  private static InputStream ended(Recording recording) throws IOException {
    recording.stop();
    var bytes = recording.getStream(null, null);
    return bytes == null ? InputStream.nullInputStream() : bytes;
  }

  private static Flux<ByteBuf> chunks(InputStream bytes) {
    return Flux.<ByteBuf>generate(next -> {
      try {
        byte[] chunk = bytes.readNBytes(CHUNK_BYTES);
        if (chunk.length == 0) {
          next.complete();
        } else {
          next.next(Unpooled.wrappedBuffer(chunk));
        }
      } catch (IOException e) {
        next.error(e);
      }
    }).subscribeOn(Schedulers.boundedElastic());
  }

  private static void close(InputStream bytes) {
    try {
      bytes.close();
    } catch (IOException e) {
      log.debug("Closing a recording failed", e);
    }
  }
}
