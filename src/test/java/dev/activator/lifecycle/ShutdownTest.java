package dev.activator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ShutdownTest {
  private final List<String> done = new ArrayList<>();
  private final Shutdown shutdown = new Shutdown(code -> done.add("exit " + code),
      code -> done.add("halt " + code));

  private void runs() {
    shutdown.running(() -> done.add("unready"));
  }

  @Test
  @DisplayName("a signal makes it unready at once, and ends it in order with 0")
  void aSignalEndsItInOrder() {
    runs();
    shutdown.signal("TERM");
    assertThat(done).containsExactly("unready", "exit 0");
  }

  @Test
  @DisplayName("a second signal ends it at once with 1")
  void aSecondSignalEndsItAtOnce() {
    runs();
    shutdown.signal("TERM");
    shutdown.signal("INT");
    assertThat(done).containsExactly("unready", "exit 0", "halt 1");
  }

  @Test
  @DisplayName("a listener that fails ends it in order with 1, once")
  void aListenerThatFailsEndsItInOrder() {
    runs();
    shutdown.failed("no requests are taken any more");
    shutdown.failed("no requests are taken any more");
    assertThat(done).containsExactly("unready", "exit 1");
  }

  @Test
  void theFirstSignalAfterAFailureLeavesTheDrainAlone() {
    runs();
    shutdown.failed("no requests are taken any more");
    shutdown.signal("TERM");
    assertThat(done).containsExactly("unready", "exit 1");
    shutdown.signal("TERM");
    assertThat(done).containsExactly("unready", "exit 1", "halt 1");
  }

  @Test
  void aListenerThatGoesDuringTheEndIsNoFailure() {
    runs();
    shutdown.signal("TERM");
    shutdown.failed("closed");
    assertThat(done).containsExactly("unready", "exit 0");
  }

  @Test
  @DisplayName("a signal during a wait of the start interrupts it")
  void aSignalDuringAWaitOfTheStartInterruptsIt() {
    assertThatThrownBy(() -> shutdown.during(() -> {
      shutdown.signal("TERM");
      new CountDownLatch(1).await();
    })).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(done).isEmpty();
  }

  @Test
  void aSignalBeforeAWaitOfTheStartDoesNotLetItBegin() {
    shutdown.signal("TERM");
    assertThatThrownBy(() -> shutdown.during(() -> done.add("waited")))
        .isInstanceOf(InterruptedException.class);
    assertThat(done).isEmpty();
  }

  @Test
  @DisplayName("a signal in the rest of the start ends it in order once that is over")
  void aSignalInTheRestOfTheStartEndsItOnceThatIsOver() throws Exception {
    shutdown.during(() -> done.add("waited"));
    shutdown.signal("TERM");
    assertThat(Thread.interrupted()).isFalse();
    runs();
    shutdown.signal("TERM");
    assertThat(done).containsExactly("waited", "unready", "exit 0", "halt 1");
  }

  @Test
  void aListenerThatFailsInTheRestOfTheStartEndsItOnceThatIsOver() {
    shutdown.failed("no requests are taken any more");
    assertThat(done).isEmpty();

    runs();

    assertThat(done).containsExactly("unready", "exit 1");
  }

  /** Which comes first is chance: all orders are met within some thousand rounds. */
  @Test
  void exitsWithOne_whenAFailureComesAsTheStartEnds() throws Exception {
    int rounds = 2_000;
    var codes = new ConcurrentLinkedQueue<Integer>();
    var all = Stream.generate(() -> new Shutdown(codes::add, codes::add)).limit(rounds).toList();
    var turn = new AtomicInteger();
    var listener = new Thread(() -> all.forEach(one -> {
      meet(turn);
      one.failed("no requests are taken any more");
    }));
    listener.start();
    all.forEach(one -> {
      meet(turn);
      one.running(() -> {
      });
    });
    listener.join();

    assertThat(codes).hasSize(rounds).containsOnly(1);
  }

  /** Spins: a thread that is woken comes too late for the other. */
  private static void meet(AtomicInteger turn) {
    int last = turn.getAndIncrement() / 2 * 2;
    while (turn.get() < last + 2) {
      Thread.onSpinWait();
    }
  }

  @Test
  void exitsWithOne_whenASignalFollowsAFailureInTheStart() {
    shutdown.failed("no requests are taken any more");
    shutdown.signal("TERM");

    runs();

    assertThat(done).containsExactly("unready", "exit 1");
  }

  @Test
  void aSignalInterruptsAWaitOfTheStart_alsoAfterAFailure() {
    assertThatThrownBy(() -> shutdown.during(() -> {
      shutdown.failed("no requests are taken any more");
      shutdown.signal("TERM");
      done.add("interrupted: " + Thread.interrupted());
    })).isInstanceOf(InterruptedException.class);

    assertThat(done).containsExactly("interrupted: true");
  }

  @Test
  void aSignalInterruptsNoWaitThatItDidNotLetBegin() {
    // A wait of the start that begins while the signal is handled.
    var refused = new AtomicReference<Throwable>();
    var logger = (Logger) LoggerFactory.getLogger(Shutdown.class);
    var starts = new AppenderBase<ILoggingEvent>() {
      @Override
      protected void append(ILoggingEvent event) {
        refused.set(catchThrowable(() -> shutdown.during(() -> done.add("waited"))));
      }
    };
    starts.start();
    // Tests beside this one may switch the log off.
    logger.setLevel(Level.INFO);
    logger.addAppender(starts);
    try {
      shutdown.signal("TERM");
    } finally {
      logger.detachAppender(starts);
    }

    assertThat(refused.get()).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(done).isEmpty();
  }
}
