package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.WorkQueue.Done;
import dev.activator.kube.WorkQueue.Result;
import dev.activator.kube.WorkQueue.Retry;
import dev.activator.loop.policy.Backoff;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkQueueTest {
  private final VirtualLoop loop = new VirtualLoop();
  /** The begun reconciliations: key, and second. */
  private final List<String> begun = new ArrayList<>();
  private final List<Boolean> terms = new ArrayList<>();
  private final Map<String, CompletableFuture<Result>> underWay = new HashMap<>();
  private Function<String, CompletableFuture<Result>> answer = key -> {
    var result = new CompletableFuture<Result>();
    underWay.put(key, result);
    return result;
  };
  private boolean leads = true;
  private final WorkQueue<String> queue = new WorkQueue<>(loop, 2,
      () -> new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30), 0, new Random(1)),
      () -> leads, terms::add, key -> {
        begun.add(key + " " + loop.elapsed().toSeconds());
        return answer.apply(key);
      });

  @BeforeEach
  void start() {
    queue.start();
  }

  private void add(String... keys) {
    for (var key : keys) {
      queue.add(key);
    }
    loop.run();
  }

  private void complete(String key, Result result) {
    underWay.remove(key).complete(result);
    loop.run();
  }

  private void answersAtOnce(Result result) {
    answer = _ -> CompletableFuture.completedFuture(result);
  }

  @Test
  void reconcilesAKeyOnce_howeverOftenItIsAddedBefore() {
    queue.add("a");
    queue.add("b");
    queue.add("a");
    loop.run();

    assertThat(begun).containsExactly("a 0", "b 0");
  }

  @Test
  void reconcilesAKeyAgain_afterItWasAddedMeanwhile() {
    add("a");
    add("a", "a");
    assertThat(begun).hasSize(1);

    complete("a", Done.NOW);
    complete("a", Done.NOW);

    assertThat(begun).hasSize(2);
    assertThat(underWay).isEmpty();
  }

  @Test
  void limitsConcurrentReconciliations_andKeepsTheOrder() {
    add("a", "b", "c", "d");
    assertThat(begun).containsExactly("a 0", "b 0");

    complete("b", Done.NOW);

    assertThat(begun).containsExactly("a 0", "b 0", "c 0");
  }

  @ParameterizedTest(name = "Retry-After {0} s, limit {1} s: at {2} s")
  @CsvSource({"0, 60, '0 1 3 7 15 31 61'", "0, 3, '0 1 3 6 9 12 15'"})
  void repeatsAFailureAfterPausesThatGrow(int retryAfter, int limit, String at) {
    answersAtOnce(new Retry(Duration.ofSeconds(retryAfter), Duration.ofSeconds(limit)));
    add("a");
    loop.advance(Duration.ofSeconds(90));

    assertThat(begun).startsWith(at.replaceAll("\\d+", "a $0").split("(?<=\\d) "));
  }

  @Test
  void waitsAsLongAsTheServerRequests() {
    answersAtOnce(new Retry(Duration.ofSeconds(20)));
    add("a");
    loop.advance(Duration.ofSeconds(19));
    assertThat(begun).hasSize(1);

    loop.advance(Duration.ofSeconds(11));
    assertThat(begun).hasSize(2);
  }

  @Test
  void endsNoPauseAfterAFailure_ifTheKeyIsAdded() {
    add("a");
    complete("a", new Retry(Duration.ZERO));
    add("a");
    assertThat(begun).hasSize(1);

    loop.advance(Duration.ofSeconds(1));
    assertThat(begun).containsExactly("a 0", "a 1");
  }

  @Test
  void beginsWithAShortPauseAgain_afterASuccess() {
    add("a");
    complete("a", new Retry(Duration.ZERO));
    loop.advance(Duration.ofSeconds(1));
    complete("a", new Retry(Duration.ZERO));
    loop.advance(Duration.ofSeconds(2));
    complete("a", Done.NOW);
    add("a");
    complete("a", new Retry(Duration.ZERO));
    loop.advance(Duration.ofSeconds(10));

    assertThat(begun).containsExactly("a 0", "a 1", "a 3", "a 3", "a 4");
  }

  @Test
  void countsThePeriodFromTheBegin() {
    add("a");
    loop.advance(Duration.ofSeconds(3));
    complete("a", new Done(Duration.ofSeconds(5)));
    add("a");
    loop.advance(Duration.ofSeconds(60));

    assertThat(begun).containsExactly("a 0", "a 5");
  }

  @Test
  void addsLater_atTheEarliestOfTheTimes() {
    queue.addAfter("a", Duration.ofSeconds(9));
    queue.addAfter("a", Duration.ofSeconds(2));
    queue.addAfter("a", Duration.ofSeconds(7));
    loop.advance(Duration.ofSeconds(60));

    assertThat(begun).containsExactly("a 2");
  }

  @Test
  void repeatsWhatThrows_andTheOthersContinue() {
    answer = key -> {
      if (key.equals("a")) {
        throw new IllegalStateException("for this test");
      }
      return CompletableFuture.completedFuture(Done.NOW);
    };
    add("a", "b");
    loop.advance(Duration.ofSeconds(1));

    assertThat(begun).containsExactly("a 0", "b 0", "a 1");
  }

  @Test
  void reconcilesOnlyWhileThisProcessLeads_andForgetsTheKeysOfEarlierTerms() {
    leads = false;
    add("a");
    loop.advance(Duration.ofSeconds(5));
    leads = true;
    loop.advance(Duration.ofSeconds(1));
    assertThat(begun).isEmpty();

    add("b");
    assertThat(begun).containsExactly("b 6");
    assertThat(terms).containsExactly(true, false, true);
  }

  @Test
  void ignoresAResultOfAForgottenKey() {
    add("a");
    queue.forget("a");
    add("a");
    complete("a", new Retry(Duration.ofMinutes(1)));

    assertThat(begun).containsExactly("a 0", "a 0");
  }

  @Test
  void drainsWhatIsAdded_exceptWhatFailed_andBeginsATermAfterwards() {
    answersAtOnce(new Done(Duration.ofMinutes(1)));
    add("held");
    answersAtOnce(new Retry(Duration.ZERO));
    add("failed", "held");
    queue.addAfter("later", Duration.ofMinutes(1));
    answersAtOnce(Done.NOW);
    begun.clear();

    var drained = queue.drain();
    queue.add("late");
    assertThat(drained).isNotDone();
    loop.run();

    assertThat(drained).isDone();
    assertThat(begun).containsExactlyInAnyOrder("held 0", "later 0");
    loop.advance(Duration.ofSeconds(1));
    assertThat(terms).containsExactly(true, true);
  }

  @Test
  void aDrainWaitsForWhatIsUnderWay_unlessItIsEnded() {
    add("a");
    var drained = queue.drain();
    loop.run();
    assertThat(drained).isNotDone();

    queue.endDrain();
    assertThat(drained).isDone();
    loop.advance(Duration.ofSeconds(1));
    add("a");
    complete("a", new Retry(Duration.ZERO));
    assertThat(begun).containsExactly("a 0", "a 1");
    assertThat(terms).containsExactly(true, true);
  }

  @Test
  void reconcilesNothingAfterAStop() {
    queue.stop();
    add("a");
    loop.advance(Duration.ofMinutes(1));

    assertThat(begun).isEmpty();
    assertThat(loop.pending()).isZero();
  }

  @Test
  void eachAddedKeyIsReconciledAfterwards_oneAtATime_in200Seeds() {
    for (int seed = 0; seed < 200; seed++) {
      simulate(seed);
    }
  }

  private static void simulate(int seed) {
    var random = new Random(seed * 7919L);
    var loop = new VirtualLoop();
    Set<Integer> stale = new HashSet<>();
    Set<Integer> running = new HashSet<>();
    var leads = new boolean[]{true};
    var holder = new ArrayList<WorkQueue<Integer>>();
    Runnable addAll = () -> stale.forEach(holder.getFirst()::add);
    var queue = new WorkQueue<Integer>(loop, 3,
        () -> new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30), 0.5, random),
        () -> leads[0], begins -> {
          if (begins) {
            addAll.run();
          }
        }, key -> {
          assertThat(leads[0]).as("seed %d: leads", seed).isTrue();
          assertThat(running.add(key)).as("seed %d: %d is not under way", seed, key).isTrue();
          assertThat(running).as("seed %d", seed).hasSizeLessThanOrEqualTo(3);
          boolean succeeds = random.nextInt(3) > 0;
          if (succeeds) {
            stale.remove(key);
          }
          var result = new CompletableFuture<Result>();
          loop.schedule(Duration.ofMillis(random.nextInt(1_500)), () -> {
            running.remove(key);
            if (succeeds) {
              result.complete(new Done(Duration.ofMillis(random.nextInt(2_000))));
            } else {
              result.complete(new Retry(Duration.ofSeconds(random.nextInt(5))));
            }
          });
          return result;
        });
    holder.add(queue);
    queue.start();
    for (int i = 0; i < 100; i++) {
      int key = random.nextInt(6);
      switch (random.nextInt(8)) {
        case 0 -> leads[0] = !leads[0];
        case 1 -> {
          queue.forget(key);
          stale.add(key);
          queue.add(key);
        }
        case 2 -> queue.addAfter(key, Duration.ofMillis(random.nextInt(3_000)));
        case 3 -> {
          var _ = queue.drain();
        }
        default -> {
          stale.add(key);
          queue.add(key);
        }
      }
      loop.advance(Duration.ofMillis(random.nextInt(1_000)));
    }
    leads[0] = true;
    loop.advance(Duration.ofMinutes(10));
    assertThat(stale).as("seed %d", seed).isEmpty();
    queue.stop();
    assertThat(loop.pending()).as("seed %d: timers", seed).isZero();
  }
}
