package dev.activator.throttle.policy;

import dev.activator.config.GoDuration;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How one revision's requests are held and spread.
 *
 * @param queueCapacity how many may wait; at least 1
 * @param queueTimeout how long one may wait, from its arrival; zero for as long as the revision's
 *     own timeouts let it
 * @param balancer which pod is next; null for what the container concurrency suggests
 * @param rampStart how many requests a new pod without a limit is given at first; 0 for any number
 */
public record Tuning(int queueCapacity, Duration queueTimeout, @Nullable Balancer balancer,
    int rampStart) {
  public static final String QUEUE_CAPACITY = "activator.dev/queue-capacity";
  public static final String QUEUE_TIMEOUT = "activator.dev/queue-timeout";
  public static final String BALANCING = "activator.dev/balancing";
  public static final String RAMP = "activator.dev/ramp";

  private static final int RAMP_START = 16;
  private static final String RAMP_OFF = "off";

  /** What holds where a revision says nothing else. */
  public static Tuning of(int queueCapacity) {
    return new Tuning(queueCapacity, Duration.ZERO, null, RAMP_START);
  }

  /**
   * What a revision's annotations make of this.
   *
   * @param problems told, in a sentence that names it, of each annotation that means nothing; it
   *     changes nothing then
   */
  public Tuning with(Map<String, String> annotations, Consumer<String> problems) {
    var said = new Said(annotations, problems);
    return new Tuning(said.read(QUEUE_CAPACITY, Tuning::atLeastOne).orElse(queueCapacity),
        said.read(QUEUE_TIMEOUT, Tuning::positive).orElse(queueTimeout),
        said.read(BALANCING, Balancer::parse).orElse(balancer),
        said.read(RAMP, Tuning::ramp).orElse(rampStart));
  }

  /** Which pod is next in a revision of this container concurrency. */
  public Balancer balancer(int containerConcurrency) {
    return balancer == null ? Balancer.of(containerConcurrency) : balancer;
  }

  private static int atLeastOne(String text) {
    try {
      int number = Integer.parseInt(text);
      if (number >= 1) {
        return number;
      }
    } catch (NumberFormatException none) {
      // Said below.
    }
    throw new IllegalArgumentException("'" + text + "' is not a whole number of at least 1");
  }

  private static Duration positive(String text) {
    var duration = GoDuration.parse(text);
    if (!duration.isPositive()) {
      throw new IllegalArgumentException("'" + text + "' is not a positive duration");
    }
    return duration;
  }

  private static int ramp(String text) {
    return text.equals(RAMP_OFF) ? 0 : atLeastOne(text);
  }

  private record Said(Map<String, String> annotations, Consumer<String> problems) {
    <T> Optional<T> read(String name, Function<String, T> meaning) {
      String text = annotations.get(name);
      if (text == null) {
        return Optional.empty();
      }
      try {
        return Optional.of(meaning.apply(text.strip()));
      } catch (IllegalArgumentException wrong) {
        problems.accept("annotation " + name + ": " + wrong.getMessage());
        return Optional.empty();
      }
    }
  }
}
