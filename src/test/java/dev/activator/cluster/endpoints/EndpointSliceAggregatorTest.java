package dev.activator.cluster.endpoints;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.LogOf;
import dev.activator.cluster.decode.Addresses;
import dev.activator.cluster.policy.IpFamily;
import dev.activator.cluster.policy.Slice;
import dev.activator.cluster.policy.Slice.Condition;
import dev.activator.cluster.policy.Slice.Member;
import dev.activator.cluster.policy.Slice.Owner;
import dev.activator.cluster.policy.Slice.Ports;
import dev.activator.cluster.policy.Slice.Role;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EndpointSliceAggregatorTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  private final List<String> told = new ArrayList<>();
  private String uid = "";
  private final EndpointSliceAggregator book = new EndpointSliceAggregator(IpFamily.IPV4, _ -> uid,
      this::changed);

  private void changed(@Nullable Addresses before, @Nullable Addresses now) {
    told.add(text(before) + " -> " + text(now));
  }

  private static String text(@Nullable Addresses addresses) {
    return switch (addresses) {
      case null -> "none";
      case Addresses.OfPods(var pods) -> pods.revision().name() + pods.http1().ready();
      case Addresses.OfActivators(var them) -> "activators" + them.http1();
    };
  }

  private static Slice slice(String name, String revision, String uid, String... ips) {
    return new Slice(name, new Owner(new RevisionId("ns", revision), Role.PODS), uid,
        new Ports(8012, null), List.of(ips).stream()
            .map(ip -> new Member("pod of " + ip, ip, Condition.READY)).toList());
  }

  private List<String> news() {
    var news = List.copyOf(told);
    told.clear();
    return news;
  }

  @Test
  void addsUpWhatSlicesHoldAndTakesBackWhatTheLastOneHeld() {
    var one = slice("a", "rev", "u", "10.0.0.1");
    var other = slice("b", "rev", "u", "10.0.0.2");

    book.changed(null, one);
    book.changed(null, other);
    assertThat(news()).containsExactly("none -> rev[10.0.0.1:8012]",
        "rev[10.0.0.1:8012] -> rev[10.0.0.1:8012, 10.0.0.2:8012]");

    book.changed(one, null);
    book.changed(other, null);
    assertThat(news()).containsExactly(
        "rev[10.0.0.1:8012, 10.0.0.2:8012] -> rev[10.0.0.2:8012]", "rev[10.0.0.2:8012] -> none");
  }

  @Test
  void anEmptySliceMeansThatThereAreNoPods() {
    book.changed(null, slice("a", "rev", "u"));

    assertThat(news()).containsExactly("none -> rev[]");
  }

  @Test
  void saysNothingWhereAPodIsOnlyListedInAnotherSlice() {
    book.changed(null, slice("a", "rev", "u", "10.0.0.1"));
    book.changed(null, slice("b", "rev", "u", "10.0.0.1"));
    book.changed(slice("a", "rev", "u", "10.0.0.1"), null);

    assertThat(news()).containsExactly("none -> rev[10.0.0.1:8012]");
  }

  @Test
  void movesASliceThatBelongsToAnotherRevisionNow() {
    var before = slice("a", "rev", "u", "10.0.0.1");
    book.changed(null, before);

    book.changed(before, slice("a", "other", "v", "10.0.0.1"));

    assertThat(news()).containsExactly("none -> rev[10.0.0.1:8012]",
        "rev[10.0.0.1:8012] -> none", "none -> other[10.0.0.1:8012]");
  }

  @Test
  void forgetsThePodsOfARevisionThatWasMadeAnew() {
    // given a revision, and slices of it that outlive it
    uid = "old";
    book.changed(null, slice("a", "rev", "old", "10.0.0.1"));

    // when another takes its name
    uid = "new";
    book.madeAnew(REVISION);

    // then they are not its
    assertThat(news()).containsExactly("none -> rev[10.0.0.1:8012]", "rev[10.0.0.1:8012] -> rev[]");
    book.changed(null, slice("b", "rev", "new", "10.0.0.2"));
    assertThat(news()).containsExactly("rev[] -> rev[10.0.0.2:8012]");
  }

  @Test
  void saysOnceThatASliceIsOfAnotherRevisionOfTheSameName() {
    uid = "new";
    try (var log = new LogOf(EndpointSliceAggregator.class)) {
      var before = slice("a", "rev", "old", "10.0.0.1");
      book.changed(null, before);
      book.changed(before, slice("a", "rev", "old", "10.0.0.2"));
      book.madeAnew(REVISION);

      assertThat(log.lines()).containsExactly("WARN Skipped EndpointSlice ns/a: it is of a revision"
          + " with uid old, but ns/rev has uid new");
    }
  }

  @Test
  void nothingIsSaidOfARevisionWithoutSlices() {
    book.madeAnew(REVISION);

    assertThat(news()).isEmpty();
  }
}
