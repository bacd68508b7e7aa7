package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import java.util.List;
import org.junit.jupiter.api.Test;

class ActivatorAddressesTest {
  private static final RevisionId ONE = new RevisionId("shop", "one");
  private static final RevisionId OTHER = new RevisionId("shop", "other");

  private final ActivatorAddresses addresses = new ActivatorAddresses("10.0.0.1");

  private boolean changed(RevisionId id, String... http1) {
    return addresses.changed(new PublicEndpointAddresses(id, List.of(http1), List.of()));
  }

  @Test
  void areThoseOfAllListsThatHaveOurOwnAddress() {
    assertThat(changed(ONE, "10.0.0.1", "10.0.0.2")).isTrue();
    assertThat(addresses.changed(new PublicEndpointAddresses(OTHER, List.of(),
        List.of("10.0.0.3", "10.0.0.1")))).isTrue();

    assertThat(addresses.others()).containsExactly("10.0.0.2", "10.0.0.3");
  }

  @Test
  void areNoPods() {
    assertThat(changed(ONE, "10.8.0.1", "10.8.0.2")).isFalse();

    assertThat(addresses.others()).isEmpty();
  }

  @Test
  void areKeptWhileOneRevisionHasThem() {
    changed(ONE, "10.0.0.1", "10.0.0.2");
    assertThat(changed(OTHER, "10.0.0.1", "10.0.0.2")).as("known already").isFalse();

    assertThat(changed(ONE, "10.8.0.1")).as("its pods are in the path now").isFalse();
    assertThat(addresses.others()).containsExactly("10.0.0.2");

    assertThat(changed(OTHER)).as("deleted").isTrue();
    assertThat(addresses.others()).isEmpty();
  }

  @Test
  void doNotChange_whenAListIsReportedAgain() {
    changed(ONE, "10.0.0.1", "10.0.0.2");

    assertThat(changed(ONE, "10.0.0.1", "10.0.0.2")).isFalse();
    assertThat(changed(ONE)).isTrue();
  }

  @Test
  void changeWithTheirList() {
    changed(ONE, "10.0.0.1", "10.0.0.2");

    assertThat(changed(ONE, "10.0.0.1", "10.0.0.3")).isTrue();
    assertThat(addresses.others()).containsExactly("10.0.0.3");
  }
}
