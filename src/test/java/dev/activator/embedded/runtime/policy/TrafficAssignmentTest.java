package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.TrafficAssignment.Assigned;
import dev.activator.embedded.runtime.policy.TrafficAssignment.TargetState;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Unassigned;
import dev.activator.revision.RevisionId;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Targets are written as tag:revision:percent, and * stands for the latest revision. */
class TrafficAssignmentTest {
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      ":*:100               | ::shop-3:100 latest               | {shop-3=100}",
      ":shop-1:100          | ::shop-1:100                      | {shop-1=100}",
      ":*:50 :shop-1:50     | ::shop-3:50 latest, ::shop-1:50   | {shop-1=50, shop-3=50}",
      "v1:shop-1:0 :*:100   | v1:shop-1:0, ::shop-3:100 latest  | {shop-3=100}",
      "a:shop-1:40 b:shop-1:60 | a:shop-1:40, b:shop-1:60       | {shop-1=100}",
      ":shop-1:30 :shop-1:70   | ::shop-1:100                   | {shop-1=100}",
      ":*:30 :shop-3:70     | ::shop-3:30 latest, ::shop-3:70   | {shop-3=100}"})
  void namesTheRevisionOfEachTarget(String targets, String shares, String percentages) {
    var assigned = (Assigned) assign(targets);

    assertThat(assigned.shares().stream().map(TrafficAssignmentTest::text)).containsExactly(
        shares.replace("::", ":").split(", "));
    assertThat(new TreeMap<>(assigned.percentages())).hasToString(percentages);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      ":slow:100   | false | RevisionMissing  | Revision \"slow\" is not yet ready.",
      ":broken:100 | true  | RevisionMissing  | Revision \"broken\" failed to become ready.",
      ":none:100   | true  | RevisionMissing  | Revision \"none\" referenced in traffic not found.",
      ":cart-1:100 | true  | RevisionNotOwned | Revision \"cart-1\" belongs to Service \"cart\", not Service \"shop\".",
      ":alone:100  | true  | RevisionNotOwned | Revision \"alone\" does not belong to Service \"shop\".",
      ":*:100 v0:none:0       | true | RevisionMissing | Revision \"none\" referenced in traffic not found.",
      ":none:50 :slow:50      | true | RevisionMissing | Revision \"none\" referenced in traffic not found.",
      ":slow:50 :none:50      | true | RevisionMissing | Revision \"none\" referenced in traffic not found."})
  void saysWhichTargetCannotGetRequests(String targets, boolean failed, String reason,
      String message) {
    assertThat(assign(targets)).isEqualTo(new Unassigned(failed, reason, message));
  }

  @Test
  void splitsAHundredDrawsByPercent() {
    var split = TrafficSplit.of("default",
        ((Assigned) assign(":shop-1:5 :*:70 :shop-2:25")).percentages());

    var counts = new TreeMap<RevisionId, Integer>();
    IntStream.range(0, 100).forEach(i -> counts.merge(split.choose(bound -> {
      assertThat(bound).isEqualTo(100);
      return i;
    }), 1, Integer::sum));

    assertThat(counts).hasToString("{default/shop-1=5, default/shop-2=25, default/shop-3=70}");
  }

  private static TrafficAssignment assign(String targets) {
    var states = Map.<String, TargetState>of("shop-1", TargetState.Known.READY, "shop-2",
        TargetState.Known.READY, "shop-3", TargetState.Known.READY, "slow",
        TargetState.Known.NOT_READY, "broken", TargetState.Known.FAILED, "cart-1",
        new TargetState.OfOther("cart"), "alone", new TargetState.OfOther(""));
    return TrafficAssignment.of("shop", Arrays.stream(targets.split(" ")).map(one -> {
      var parts = one.split(":");
      return new TrafficAssignment.Target(parts[0], parts[1].equals("*") ? "" : parts[1],
          Integer.parseInt(parts[2]));
    }).toList(), "shop-3", name -> states.getOrDefault(name, TargetState.Known.MISSING));
  }

  private static String text(TrafficAssignment.Share share) {
    return share.tag() + ":" + share.revision() + ":" + share.percent()
        + (share.latest() ? " latest" : "");
  }
}
