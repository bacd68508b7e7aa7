package dev.activator.kube.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.LogLines;
import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.FinalState;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.kube.informer.InformerNotification;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.Yaml;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated // It reads what classes write in the log.
class DecodedObjectHandlerTest {
  private static final String BAD_IP = "subsets: [{ports: [{name: http, port: 1}], "
      + "addresses: [{ip: nowhere}, {ip: %s}]}]";

  private final LogLines log = LogLines.of(DecodedObjectHandler.class);
  private long now = Long.MAX_VALUE - 1;
  private final List<String> received = new ArrayList<>();
  private final DecodedObjectHandler<RevisionEndpointSlice> handler = new DecodedObjectHandler<>(
      KnativeKinds.ENDPOINTS,
      (before, now) -> received.add(text(before) + " -> " + text(now)),
      () -> now);

  private static String text(@Nullable RevisionEndpointSlice set) {
    return set == null
        ? "none"
        : set.subsets().stream().flatMap(one -> one.members().stream()).map(Member::ip).toList()
            .toString();
  }

  private static VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>> endpoints(int version,
      String subsets) {
    return Yaml.object(KnativeKinds.ENDPOINTS, """
        metadata: {namespace: ns, name: rev-private, uid: u, resourceVersion: "%d", labels: {
          serving.knative.dev/revision: rev, serving.knative.dev/revisionUID: u,
          networking.internal.knative.dev/serviceType: Private}}
        %s
        """.formatted(version, subsets));
  }

  @AfterEach
  void close() {
    log.close();
  }

  private void tell(InformerNotification<ObjectDecodeResult<RevisionEndpointSlice>> news) {
    handler.on(news);
  }

  @Test
  void saysOnceWhatIsWrongWithAnObjectHoweverOftenItChanges() {
    var one = endpoints(1, BAD_IP.formatted("10.0.0.1"));
    var other = endpoints(2, BAD_IP.formatted("10.0.0.2"));
    var worse = endpoints(3, "subsets: 5");
    var leftOut = "WARN Left out of Endpoints ns/rev-private: "
        + "subsets[0].addresses[0].ip is no IP address: 'nowhere'";

    tell(new Added<>(one));
    tell(new Updated<>(one, other));
    assertThat(log.lines()).containsExactly(leftOut);

    tell(new Updated<>(other, worse));
    tell(new Updated<>(worse, worse));
    assertThat(log.lines()).hasSize(2).last()
        .isEqualTo("WARN Skipped Endpoints ns/rev-private: subsets must be a list, not 5");

    tell(new Deleted<>(worse, worse, FinalState.KNOWN));
    tell(new Added<>(one));
    assertThat(log.lines()).hasSize(3);
  }

  private static final String GOOD = "subsets: [{ports: [{name: http, port: 1}], "
      + "addresses: [{ip: %s}]}]";

  /** As the informer stores them. */
  private InformerNotification<ObjectDecodeResult<RevisionEndpointSlice>> updated(
      VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>> before,
      VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>> now) {
    return new Updated<>(before, KnativeKinds.ENDPOINTS.stored(before, now));
  }

  @Test
  void logsTenLinesInTenSeconds_whenManyObjectsAreMalformed() {
    for (int i = 0; i < 2_000; i++) {
      var bad = endpoints(i + 1, "subsets: 5");
      tell(new Added<>(new VersionedObject<>("ns/" + i, "u" + i, bad.resourceVersion(),
          bad.object())));
    }
    assertThat(log.lines()).hasSize(10);

    now += Duration.ofSeconds(10).toNanos();
    tell(new Added<>(endpoints(1, "subsets: 5")));

    assertThat(log.lines()).hasSize(11);
    assertThat(log.lines().getLast()).endsWith(". 1990 others were left out of the log before");
  }

  @Test
  void reportsOnlyChangesOfFactsUnlessItIsResynced() {
    var one = endpoints(1, GOOD.formatted("10.0.0.1"));
    var same = endpoints(2, GOOD.formatted("10.0.0.1"));

    tell(new Added<>(one));
    tell(updated(one, same));
    assertThat(received).containsExactly("none -> [10.0.0.1]");
    tell(new Updated<>(same, same));
    assertThat(received).containsExactly("none -> [10.0.0.1]", "[10.0.0.1] -> [10.0.0.1]");
    tell(new Deleted<>(same, endpoints(3, GOOD.formatted("10.0.0.9")), FinalState.KNOWN));
    assertThat(received).last().isEqualTo("[10.0.0.1] -> none");
  }

  @Test
  void anObjectThatBecomesMalformedKeepsItsFact() {
    var one = endpoints(1, GOOD.formatted("10.0.0.1"));
    var bad = KnativeKinds.ENDPOINTS.stored(one, endpoints(2, "subsets: 5"));
    var worse = KnativeKinds.ENDPOINTS.stored(bad, endpoints(3, "subsets: 6"));
    var good = endpoints(4, GOOD.formatted("10.0.0.2"));

    tell(new Added<>(one));
    tell(new Updated<>(one, bad));
    tell(new Updated<>(bad, worse));
    tell(updated(worse, good));
    assertThat(received).containsExactly("none -> [10.0.0.1]", "[10.0.0.1] -> [10.0.0.2]");
  }

  @Test
  void ofAnotherObjectThatIsMalformedNothingIsKept() {
    var one = endpoints(1, GOOD.formatted("10.0.0.1"));
    var bad = endpoints(2, "subsets: 5");
    var another = new VersionedObject<>(bad.key(), "another uid", bad.resourceVersion(),
        bad.object());

    tell(new Added<>(one));
    tell(updated(one, another));
    assertThat(received).containsExactly("none -> [10.0.0.1]", "[10.0.0.1] -> none");
  }
}
