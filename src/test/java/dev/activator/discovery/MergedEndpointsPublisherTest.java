package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.LogLines;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.policy.IpFamily;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated // It reads what classes write in the log.
class MergedEndpointsPublisherTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  private final List<String> received = new ArrayList<>();
  private String uid = "";
  private final IndexedStore<ObjectDecodeResult<RevisionEndpointSlice>> store = new IndexedStore<>();
  private final RevisionChangePublisher<PrivateEndpoints> pods = new RevisionChangePublisher<>(
      "pods");
  private final RevisionChangePublisher<PublicEndpointAddresses> addresses = new RevisionChangePublisher<>(
      "public Endpoints");
  private final MergedEndpointsPublisher events = new MergedEndpointsPublisher(store, IpFamily.IPV4,
      _ -> uid, pods,
      addresses);

  MergedEndpointsPublisherTest() {
    pods.changes().subscribe("test",
        now -> received.add(now.revision().name() + now.http1().ready()));
    pods.ends().subscribe("test", last -> received.add(last.revision().name() + " gone"));
    addresses.changes().subscribe("test",
        now -> received.add("activators of " + now.revision().name() + now.http1()));
    addresses.ends().subscribe("test",
        last -> received.add("no activators of " + last.revision().name()));
  }

  private static RevisionEndpointSlice slice(Role role, String revision, String uid,
      String... ips) {
    return new RevisionEndpointSlice(new Owner(new RevisionId("ns", revision), role), uid,
        List.of(new Subset(new Ports(8012, null), Stream.of(ips)
            .map(ip -> new Member("pod of " + ip, ip, Condition.READY)).toList())));
  }

  private static RevisionEndpointSlice slice(String revision, String uid, String... ips) {
    return slice(Role.PODS, revision, uid, ips);
  }

  /** The object of this name is so now. */
  private void put(String name, RevisionEndpointSlice now) {
    var before = store.find("ns/" + name);
    store.put(
        new VersionedObject<>("ns/" + name, "u", "1",
            new ObjectDecodeResult<>(now, null, List.of())));
    events.changed(before == null ? null : before.object().value(), now);
  }

  private void remove(String name) {
    events.changed(Objects.requireNonNull(store.remove("ns/" + name)).object().value(), null);
  }

  private List<String> news() {
    var news = List.copyOf(received);
    received.clear();
    return news;
  }

  @Test
  void addsUpWhatSlicesHoldAndTakesBackWhatTheLastOneHeld() {
    put("a", slice("rev", "u", "10.0.0.1"));
    put("b", slice("rev", "u", "10.0.0.2"));
    assertThat(news()).containsExactly("rev[10.0.0.1:8012]", "rev[10.0.0.1:8012, 10.0.0.2:8012]");

    remove("a");
    remove("b");
    assertThat(news()).containsExactly("rev[10.0.0.2:8012]", "rev gone");
  }

  @Test
  void anEmptySliceMeansThatThereAreNoPods() {
    put("a", slice("rev", "u"));
    assertThat(news()).containsExactly("rev[]");
  }

  @Test
  void saysNothingWhereAPodIsOnlyListedInAnotherSlice() {
    put("a", slice("rev", "u", "10.0.0.1"));
    put("b", slice("rev", "u", "10.0.0.1"));
    remove("a");
    assertThat(news()).containsExactly("rev[10.0.0.1:8012]");
  }

  @Test
  void movesASliceThatBelongsToAnotherRevisionNow() {
    put("a", slice("rev", "u", "10.0.0.1"));
    put("a", slice("other", "v", "10.0.0.1"));
    assertThat(news()).containsExactly("rev[10.0.0.1:8012]", "rev gone", "other[10.0.0.1:8012]");
  }

  @Test
  void publicAddressesThatNoObjectListsAreNone() {
    put("a", slice(Role.ACTIVATORS, "rev", "u", "10.0.0.7"));
    remove("a");
    assertThat(news()).containsExactly("activators of rev[10.0.0.7]", "no activators of rev");
  }

  @Test
  @DisplayName("a resync reports unchanged objects again")
  void reportsAgain_whenItIsResynced() {
    var same = slice("rev", "u", "10.0.0.1");
    put("a", same);
    events.changed(same, same);
    assertThat(news()).containsExactly("rev[10.0.0.1:8012]", "rev[10.0.0.1:8012]");
  }

  @Test
  void forgetsThePodsOfARevisionThatWasCreatedAgain() {
    // given a revision, and slices of it that outlive it
    uid = "old";
    put("a", slice("rev", "old", "10.0.0.1"));

    // when another takes its name
    uid = "new";
    events.recreated(REVISION, uid);

    // then they are not its
    assertThat(news()).containsExactly("rev[10.0.0.1:8012]", "rev[]");
    put("b", slice("rev", "new", "10.0.0.2"));
    assertThat(news()).containsExactly("rev[10.0.0.2:8012]");
  }

  @Test
  void saysOnceThatASliceIsOfAnotherRevisionOfTheSameName() {
    try (var log = LogLines.of(MergedEndpointsPublisher.class)) {
      var line = "WARN Skipped EndpointSlice ns/%s: it belongs to a revision with uid old, but"
          + " ns/rev has uid new";
      put("a", slice("rev", "old", "10.0.0.1"));
      uid = "new";
      events.recreated(REVISION, uid);
      assertThat(log.lines()).containsExactly(line.formatted("a"));

      put("a", slice("rev", "old", "10.0.0.2"));
      put("b", slice("rev", "old", "10.0.0.3"));
      assertThat(log.lines()).containsExactly(line.formatted("a"), line.formatted("b"));
    }
  }

  @Test
  void nothingIsSaidOfARevisionWithoutSlices() {
    events.recreated(REVISION, uid);
    assertThat(news()).isEmpty();
  }
}
