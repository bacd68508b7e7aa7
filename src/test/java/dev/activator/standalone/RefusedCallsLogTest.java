package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.standalone.policy.TestReferences;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.EventWriter;
import dev.activator.kube.ScalingApiClients;
import ch.qos.logback.classic.Level;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.LogLines;
import dev.activator.testing.SteppedLoop;
import dev.activator.testing.TestValues;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A right that is missing is logged once, however often the call is repeated. */
@Isolated("reads the log")
class RefusedCallsLogTest {
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ScalingApiClients session = new ScalingApiClients(
      new ClusterAccess.At(URI.create(api.url())),
      () -> KubernetesWriteRateLimiter.UNLIMITED, Duration.ofSeconds(120));

  @BeforeEach
  void open() {
    session.open();
    api.faults().add(Match.requests(), Fault.Answer.status(403));
  }

  @AfterEach
  void close() {
    session.close();
    api.close();
  }

  @Test
  void theMembersOfOurServiceThatMayNotBeReadAreNamedOnce() throws Exception {
    try (var log = LogLines.of(ScalingApiClients.class)) {
      for (int i = 0; i < 4; i++) {
        assertThat(session.members("system", "activator").get(120, TimeUnit.SECONDS)).isEmpty();
      }

      assertThat(log.at(Level.WARN)).singleElement().asString()
          .contains("Service system/activator cannot be read: 403");
    }
  }

  @Test
  void ofManyEventsThatMayNotBeWrittenFewAreNamed() throws Exception {
    try (var log = LogLines.of(EventWriter.class)) {
      for (int i = 0; i < 20; i++) {
        session.events().write(new EventWriter.Regarding("v1", "Pod", "shop", "p" + i, ""), true,
            "ScaleFailed", "it is refused").get(120, TimeUnit.SECONDS);
      }

      assertThat(log.at(Level.WARN)).hasSizeLessThan(5);
    }
  }

  @Test
  void namesALostEventAgain_whenTheClockWasSetBack() throws Exception {
    // given a lost Event, which is named
    var now = new AtomicReference<>(Instant.parse("2026-01-01T01:00:00Z"));
    var nanos = new AtomicLong(Long.MAX_VALUE - 1);
    var events = new EventWriter(() -> null, now::get, nanos::get);
    var web = new EventWriter.Regarding("v1", "Pod", "shop", "web", "");
    try (var log = LogLines.of(EventWriter.class)) {
      events.write(web, true, "ScaleFailed", "first").get(120, TimeUnit.SECONDS);

      // when another is lost ten seconds later, and the clock shows an hour less
      now.set(Instant.parse("2026-01-01T00:00:10Z"));
      nanos.addAndGet(Duration.ofSeconds(10).toNanos());
      events.write(web, true, "ScaleFailed", "second").get(120, TimeUnit.SECONDS);

      // then it is named, too
      assertThat(log.at(Level.WARN)).hasSize(2);
    }
  }

  @Test
  void aStatusThatMayNotBeWrittenIsNamedOnceForEachObject() {
    try (var thread = new ThreadLoop("writer");
        var log = LogLines.of(ScaledServiceStatusWriter.class)) {
      var loop = new SteppedLoop(thread);
      var writer = new ScaledServiceStatusWriter(loop, session::records, InstantSource.system(),
          () -> true,
          new Random(1));
      writer.start();
      writer.changed(state("a"));
      writer.changed(state("b"));

      await().until(() -> {
        loop.advance(Duration.ofSeconds(1));
        // A line comes after the answer.
        return api.faults().journal().calls(Match.requests(Verb.PATCH)).size() > 6
            && log.at(Level.WARN).size() > 1;
      });
      assertThat(log.at(Level.WARN)).hasSize(2)
          .anyMatch(line -> line.contains("ScaledService shop/a cannot be written: 403"))
          .anyMatch(line -> line.contains("ScaledService shop/b cannot be written: 403"));
    }
  }

  @Test
  void ofManyStatusesThatMayNotBeWrittenOneIsNamedInTenSeconds() {
    try (var thread = new ThreadLoop("writer");
        var log = LogLines.of(ScaledServiceStatusWriter.class)) {
      var loop = new SteppedLoop(thread);
      var writer = new ScaledServiceStatusWriter(loop, session::records, InstantSource.system(),
          () -> true,
          new Random(1));
      writer.start();
      List.of("a", "b", "c", "d", "e").forEach(name -> writer.changed(state(name)));

      await().until(() -> {
        loop.advance(Duration.ofSeconds(1));
        return api.faults().journal().calls(Match.requests(Verb.PATCH)).size() >= 10;
      });
      long most = 1 + Duration.ofNanos(loop.nanoTime()).toSeconds() / 10;
      assertThat(log.at(Level.WARN)).hasSizeBetween(1, (int) most);
    }
  }

  private static ResolvedScaledService state(String name) {
    return ResolvedScaledService.of(TestValues.scaledService(new RevisionId("shop", name), "",
        List.of(), List.of(), List.of()), TestReferences.to(null).found());
  }
}
