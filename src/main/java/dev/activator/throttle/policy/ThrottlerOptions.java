package dev.activator.throttle.policy;

import dev.activator.config.GoDuration;
import dev.activator.config.RevisionAnnotations;
import java.util.HashMap;
import java.util.List;
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
    var valid = new HashMap<String, String>();
    // The waiting page is only checked here: the request path uses that one, but does not warn.
    for (var name : List.of(QUEUE_CAPACITY, QUEUE_TIMEOUT, START_TIMEOUT, BALANCING, SLOW_START,
        WAITING_PAGE)) {
      var text = annotations.get(name);
      if (text != null) {
        RevisionAnnotations.problem(name, text).ifPresentOrElse(
            problem -> problems.accept("annotation " + name + ": " + problem),
            () -> valid.put(name, text.strip()));
      }
    }
    int ofRevision = read(valid, QUEUE_CAPACITY, Integer::parseInt, NO_BOUND);
    return new ThrottlerOptions(ofRevision == NO_BOUND ? queueCapacity : ofRevision, ofRevision,
        new WaitLimits(read(valid, QUEUE_TIMEOUT, GoDuration::parse, waits.full()),
            read(valid, START_TIMEOUT, GoDuration::parse, waits.start())),
        read(valid, BALANCING, Balancer::parse, balancer),
        read(valid, SLOW_START, text -> text.equals(SLOW_START_OFF) ? 0 : Integer.parseInt(text),
            slowStart));
  }

  private static <T extends @Nullable Object> T read(Map<String, String> valid, String name,
      Function<String, ? extends T> parse, T otherwise) {
    var text = valid.get(name);
    return text == null ? otherwise : parse.apply(text);
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
}
