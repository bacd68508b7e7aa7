package dev.activator.testing.faults;

import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static dev.activator.testing.faults.Verb.LIST;
import static dev.activator.testing.faults.Verb.WATCH;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.VirtualLoop;
import dev.activator.testing.faults.Asked.Transport;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;

/** Which requests rules hit, and how requests are written down. */
class FaultsTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final Fault FAULT = new Fault.NoAnswer();

  private final VirtualLoop loop = new VirtualLoop();
  private final Faults faults = new Faults(loop, () -> 1);

  @ParameterizedTest(name = "{0} {1} is {2} of {3}, {4}, {5}")
  @CsvSource({"GET, /api/v1/endpoints, LIST, endpoints, '', ''",
      "GET, /api/v1/endpoints?watch=1, WATCH, endpoints, '', ''",
      "GET, /api/v1/namespaces/n/endpoints/e, GET, endpoints, n, e",
      "POST, /apis/serving.knative.dev/v1/namespaces/n/revisions, CREATE,"
          + " revisions.serving.knative.dev, n, ''",
      "PUT, /api/v1/namespaces/n/services/s/status, UPDATE, services, n, s",
      "PATCH, /api/v1/namespaces/n/services/s, PATCH, services, n, s",
      "DELETE, /api/v1/namespaces/n/services/s, DELETE, services, n, s",
      "DELETE, /api/v1/namespaces/n/services, DELETE_COLLECTION, services, n, ''",
      "GET, /version, OTHER, '', '', ''"})
  void readsTheRequest(String method, String path, Verb verb, String resource, String namespace,
      String name) {
    var asked = Asked.of(request(method, path));

    assertThat(asked.verb()).isEqualTo(verb);
    assertThat(asked.about().resource()).isEqualTo(resource);
    assertThat(asked.about().namespace()).isEqualTo(namespace);
    assertThat(asked.about().name()).isEqualTo(name);
  }

  @Test
  void matchesByVerbObjectCallerAndQuery() {
    var asked = Asked.of(MockServerHttpRequest.get(MAPS + "?watch=1&resourceVersion=7")
        .header("User-Agent", "fabric8/7").header("Upgrade", "websocket").build());

    assertThat(
        List.of(Match.requests(), Match.requests(WATCH, LIST), Match.requests().of(CONFIG_MAP),
            Match.requests().in("default"), Match.requests().by("fabric8"),
            Match.requests().over(Transport.WEBSOCKET), Match.requests().having("resourceVersion"),
            Match.requests().having("resourceVersion", "7"),
            Match.requests(WATCH).of(CONFIG_MAP).by("fab").in("default")))
        .allMatch(match -> match.fits(asked));
    assertThat(List.of(Match.requests(LIST), Match.requests().of(ENDPOINTS),
        Match.requests().of(REVISION), Match.requests().in("other"), Match.requests().named("x"),
        Match.requests().by("kubectl"), Match.requests().over(Transport.HTTP),
        Match.requests().having("limit"), Match.requests().having("resourceVersion", "8")))
        .noneMatch(match -> match.fits(asked));
    assertThat(asked.resourceVersion()).isEqualTo("7");
    assertThat(asked.header("user-agent")).isEqualTo("fabric8/7");
  }

  @Test
  void hitsAllOrTheFirstOrTheNthOrEveryKth() {
    faults.add(Match.requests().of(CONFIG_MAP), new Fault.Drop(1));
    faults.add(Match.requests().of(CONFIG_MAP).first(), new Fault.Drop(2));
    faults.add(Match.requests().of(CONFIG_MAP).nth(3), new Fault.Drop(3));
    faults.add(Match.requests().of(CONFIG_MAP).everyKth(2), new Fault.Drop(4));

    assertThat(hits(MAPS)).isEqualTo("12");
    assertThat(hits("/api/v1/endpoints")).isEmpty();
    assertThat(hits(MAPS)).isEqualTo("14");
    assertThat(hits(MAPS)).isEqualTo("13");
    assertThat(hits(MAPS)).isEqualTo("14");
  }

  @Test
  void hitsByChanceTheSameWithTheSameSeed() {
    var runs = new ArrayList<String>();
    for (long seed : new long[]{7, 7, 8}) {
      var seeded = new Faults(loop, () -> 1).seed(seed);
      seeded.add(Match.requests().withChance(0.5), FAULT);
      var run = new StringBuilder();
      for (int i = 0; i < 64; i++) {
        run.append(seeded.hits(open(seeded, MAPS)).size());
      }
      runs.add(run.toString());
    }

    assertThat(runs.get(0)).isEqualTo(runs.get(1)).isNotEqualTo(runs.get(2)).contains("0", "1");
  }

  @Test
  void hitsAsOftenAndAsLongAsConfiguredAndUntilItIsRemoved() {
    faults.add(Match.requests(), new Fault.Drop(1), new Lifetime.Times(2));
    faults.add(Match.requests(), new Fault.Drop(2), new Lifetime.During(ofSeconds(5)));
    var removed = faults.add(Match.requests(), new Fault.Drop(3));

    assertThat(hits(MAPS)).isEqualTo("123");
    loop.advance(ofMillis(4_999));
    assertThat(hits(MAPS)).isEqualTo("123");
    assertThat(removed.fired()).isEqualTo(2);
    removed.remove();
    assertThat(hits(MAPS)).isEqualTo("2");
    loop.advance(ofMillis(1));
    assertThat(hits(MAPS)).isEmpty();
  }

  @Test
  void hitsNothingOnceHealed() {
    faults.add(Match.requests(), FAULT);
    faults.heal();

    assertThat(hits(MAPS)).isEmpty();
  }

  @Test
  void undoesWhatWasHitBeforeItWasHealedAndTookHoldAfterwards() {
    // given a call that was hit
    var undone = new ArrayList<String>();
    faults.add(Match.requests(), FAULT);
    var call = open(faults, MAPS);
    faults.hits(call);
    call.undoActions().add(() -> undone.add("held"));

    // when it is healed, then what holds is undone, and what takes hold later too
    faults.heal();
    assertThat(undone).containsExactly("held");
    call.undoActions().add(() -> undone.add("late"));
    assertThat(undone).containsExactly("held", "late");

    // but not what hits it anew
    faults.strike(Match.requests(), new Fault.EndWatch(When.now()));
    call.undoActions().add(() -> undone.add("again"));
    assertThat(undone).containsExactly("held", "late");
  }

  @Test
  void writesDownWhatCameWhenAndWhatBecameOfIt() {
    loop.advance(ofSeconds(3));
    faults.add(Match.requests(), FAULT);
    var opened = open(faults, MAPS + "?resourceVersion=9");
    faults.hits(opened);

    var call = opened.call();
    assertThat(faults.journal().calls(Match.requests(LIST))).containsExactly(call);
    assertThat(call.at()).isEqualTo(ofSeconds(3));
    assertThat(call.faults()).containsExactly(FAULT);
    assertThat(call.outcome()).isEqualTo(new Call.Outcome(Call.End.OPEN, 0));
    assertThat(call).hasToString("LIST " + MAPS + " {resourceVersion=9} -> Outcome[end=OPEN,"
        + " status=0] after [NoAnswer[]]");
    faults.ended(opened, Call.End.ANSWERED, 200);
    assertThat(call.outcome()).isEqualTo(new Call.Outcome(Call.End.ANSWERED, 200));
  }

  @Test
  void keepsTheLastRequestsAndForgetsTheOthers() {
    for (int i = 0; i < 5_000; i++) {
      open(faults, MAPS + "?limit=" + i);
    }

    var kept = faults.journal().calls(Match.requests());
    assertThat(kept).hasSize(4_096);
    assertThat(kept.getLast().asked().parameter("limit")).isEqualTo("4999");
  }

  @Test
  void waitsUntilARequestComesAndSaysWhatCameInsteadIfItDoesNot() throws Exception {
    var later = Thread.ofVirtual().start(() -> {
      open(faults, MAPS);
      open(faults, "/api/v1/endpoints");
      open(faults, MAPS + "?limit=2");
    });

    var second = faults.journal().await(Match.requests().of(CONFIG_MAP), 2, ofSeconds(120));
    assertThat(second.asked().parameter("limit")).isEqualTo("2");
    later.join();
    assertThatThrownBy(() -> faults.journal().await(Match.requests(WATCH), 1, Duration.ZERO))
        .isInstanceOf(AssertionError.class).hasMessageContaining("LIST /api/v1/endpoints");
  }

  private String hits(String path) {
    var hits = new StringBuilder();
    for (var fault : faults.hits(open(faults, path))) {
      hits.append(((Fault.Drop) fault).event());
    }
    return hits.toString();
  }

  private static OpenCall open(Faults faults, String path) {
    return faults.opened(Asked.of(request("GET", path)), new EmbeddedChannel());
  }

  private static ServerHttpRequest request(String method, String path) {
    return MockServerHttpRequest
        .method(HttpMethod.valueOf(method), URI.create(path))
        .build();
  }
}
