package dev.activator.lending.link;

import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The load and the state of an activator. The first row of the console adds them up.
 *
 * @param saturation the used share of the limit that is nearest, 0 to 1
 * @param errors responses in the last minute, by status
 * @param busy revisions with requests in flight or queued; at most {@link #MAX_BUSY}
 * @param draining whether it shuts down, and takes no new requests
 */
public record ActivatorLoad(String version, Duration uptime, Processors processors, Memory memory,
    double saturation, Requests requests, Map<Integer, Integer> errors, List<Busy> busy,
    boolean draining) {
  /** So few that a message is far below the maximum size of a frame. */
  public static final int MAX_BUSY = 200;

  /** @param used as a number of processors */
  public record Processors(double used, int available) {}

  /** <b>Units.</b> Bytes of the heap. */
  public record Memory(long used, long max) {}

  /** @param oldestWait zero if none is queued */
  public record Requests(double perSecond, int inFlight, int queued, Duration oldestWait) {
    public static final Requests NONE = new Requests(0, 0, 0, Duration.ZERO);

    public Requests plus(Requests other) {
      return new Requests(perSecond + other.perSecond, inFlight + other.inFlight,
          queued + other.queued,
          oldestWait.compareTo(other.oldestWait) < 0 ? other.oldestWait : oldestWait);
    }
  }

  /** @param starting whether requests wait for its first pod */
  public record Busy(RevisionId revision, Requests requests, boolean starting) {}

  public ActivatorLoad {
    errors = Collections.unmodifiableMap(new TreeMap<>(errors));
    busy = List.copyOf(busy);
  }
}
