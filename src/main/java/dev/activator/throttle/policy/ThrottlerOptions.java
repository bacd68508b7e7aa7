package dev.activator.throttle.policy;

import dev.activator.config.GoDuration;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The options of one revision's queue and balancing: the defaults, overridden by its annotations.
 *
 * @param queueCapacity the capacity of the queue at this activator
 * @param sharedCapacity the capacity of the queues of all activators together; {@link #NO_BOUND}
 *     for none
 * @param waits without any, only the revision's own timeouts apply
 * @param balancer null to choose by container concurrency
 * @param slowStart the first window of a new pod without a limit; 0 for none
 */
public record ThrottlerOptions(int queueCapacity, int sharedCapacity, WaitLimits waits,
    @Nullable Balancer balancer, int slowStart) {
  public static final String QUEUE_CAPACITY = "activator.dev/queue-capacity";
  public static final String QUEUE_TIMEOUT = "activator.dev/queue-timeout";
  public static final String START_TIMEOUT = "activator.dev/start-timeout";
  public static final String BALANCING = "activator.dev/balancing";
  public static final String WAITING_PAGE = "activator.dev/waiting-page";
  public static final String SLOW_START = "activator.dev/slow-start";

  public static final int NO_BOUND = Integer.MAX_VALUE;

  private static final int SLOW_START_WINDOW = 16;
  private static final String SLOW_START_OFF = "off";

  public static ThrottlerOptions of(int queueCapacity) {
    return of(queueCapacity, WaitLimits.NONE);
  }

  public static ThrottlerOptions of(int queueCapacity, WaitLimits waits) {
    return new ThrottlerOptions(queueCapacity, NO_BOUND, waits, null, SLOW_START_WINDOW);
  }

  /** @param problems gets a sentence for each invalid annotation, which is ignored */
  public ThrottlerOptions with(Map<String, String> annotations, Consumer<String> problems) {
    var reader = new Reader(annotations, problems);
    // Only checked here: the request path uses this annotation, but does not warn.
    reader.read(WAITING_PAGE, ThrottlerOptions::autoOrOff, "");
    int ofRevision = reader.read(QUEUE_CAPACITY, ThrottlerOptions::atLeastOne, NO_BOUND);
    return new ThrottlerOptions(ofRevision == NO_BOUND ? queueCapacity : ofRevision, ofRevision,
        new WaitLimits(reader.read(QUEUE_TIMEOUT, ThrottlerOptions::positive, waits.full()),
            reader.read(START_TIMEOUT, ThrottlerOptions::positive, waits.start())),
        reader.read(BALANCING, Balancer::parse, balancer),
        reader.read(SLOW_START, ThrottlerOptions::window, slowStart));
  }

  /**
   * The maximum length of the queue here while {@code elsewhere} requests are queued at other
   * activators.
   */
  public int queueBound(int elsewhere) {
    return sharedCapacity == NO_BOUND
        ? queueCapacity
        : Math.min(queueCapacity, Math.max(0, sharedCapacity - elsewhere));
  }

  public Balancer balancer(int containerConcurrency) {
    return balancer == null ? Balancer.of(containerConcurrency) : balancer;
  }

  private static int atLeastOne(String text) {
    try {
      int number = Integer.parseInt(text);
      if (number >= 1) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException("'" + text + "' is not a whole number of at least 1");
  }

  private static String autoOrOff(String text) {
    if (text.equals("auto") || text.equals("off")) {
      return text;
    }
    throw new IllegalArgumentException("'" + text + "' is neither auto nor off");
  }

  private static Duration positive(String text) {
    var duration = GoDuration.parse(text);
    if (!duration.isPositive()) {
      throw new IllegalArgumentException("'" + text + "' is not a positive duration");
    }
    return duration;
  }

  private static int window(String text) {
    return text.equals(SLOW_START_OFF) ? 0 : atLeastOne(text);
  }

  private record Reader(Map<String, String> annotations, Consumer<String> problems) {
    <T extends @Nullable Object> T read(String name, Function<String, ? extends T> parse,
        T otherwise) {
      String text = annotations.get(name);
      if (text == null) {
        return otherwise;
      }
      try {
        return parse.apply(text.strip());
      } catch (IllegalArgumentException e) {
        problems.accept("annotation " + name + ": " + e.getMessage());
        return otherwise;
      }
    }
  }
}
