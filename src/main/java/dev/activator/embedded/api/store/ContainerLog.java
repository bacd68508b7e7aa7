package dev.activator.embedded.api.store;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/**
 * The last lines that one run of a container has printed.
 *
 * <p><b>Threads.</b> One thread appends. Any thread may read or follow.
 *
 * <p><b>Units.</b> At most {@link #MAX_LINES} lines and {@link #MAX_CHARS} characters; older lines
 * are dropped.
 */
public final class ContainerLog {
  static final int MAX_LINES = 5_000;
  static final int MAX_CHARS = 512 * 1024;

  /** @param number counted from 1 */
  public record Line(long number, Instant time, String text) {}

  private final Deque<Line> lines = new ArrayDeque<>();
  private final Sinks.Many<Long> news = Sinks.many().replay().latest();
  private long appended;
  private int chars;

  public ContainerLog() {
    news.tryEmitNext(0L);
  }

  public void append(Instant time, String text) {
    synchronized (lines) {
      appended++;
      chars += text.length();
      lines.addLast(new Line(appended, time, text));
      while (lines.size() > MAX_LINES || chars > MAX_CHARS) {
        chars -= lines.removeFirst().text().length();
      }
    }
    news.tryEmitNext(appended);
  }

  /** Ends the log. Followers get no more lines. */
  public void end() {
    news.tryEmitComplete();
  }

  public List<Line> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  /**
   * The lines from now on. A subscriber that is slower than the program misses lines that were
   * dropped.
   */
  public Flux<List<Line>> follow() {
    return Flux.defer(() -> {
      var seen = new long[1];
      return news.asFlux().onBackpressureLatest().concatMapIterable(_ -> List.of(after(seen)), 1);
    });
  }

  private List<Line> after(long[] seen) {
    synchronized (lines) {
      var fresh = lines.stream().filter(line -> line.number() > seen[0]).toList();
      seen[0] = appended;
      return fresh;
    }
  }
}
