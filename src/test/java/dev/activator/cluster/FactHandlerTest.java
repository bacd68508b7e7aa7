package dev.activator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.activator.cluster.decode.Addresses;
import dev.activator.cluster.decode.Items;
import dev.activator.cluster.informer.Notification;
import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Deleted;
import dev.activator.cluster.informer.Notification.FinalState;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.informer.Notification.Updated;
import dev.activator.cluster.informer.VersionedObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FactHandlerTest {
  private static final String BAD_IP = "subsets: [{ports: [{name: http, port: 1}], "
      + "addresses: [{ip: nowhere}, {ip: %s}]}]";

  private final LogOf log = new LogOf(FactHandler.class);
  private final FactHandler<Addresses, Items.OfEndpoints> meanings = new FactHandler<>(
      (before, now) -> {
      });

  private static VersionedObject<Items.OfEndpoints> endpoints(int version, String subsets) {
    var yaml = """
        metadata: {namespace: ns, name: rev-private, uid: u, resourceVersion: "%d", labels: {
          serving.knative.dev/revision: rev, serving.knative.dev/revisionUID: u,
          networking.internal.knative.dev/serviceType: Private}}
        %s
        """.formatted(version, subsets);
    try {
      var item = new ObjectMapper().readValue(Yaml.json(yaml), Items.OfEndpoints.class);
      return new VersionedObject<>("ns/rev-private", "u", String.valueOf(version), item);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  @AfterEach
  void close() {
    log.close();
  }

  private void tell(Notification<Items.OfEndpoints> news) {
    meanings.on(news);
  }

  @Test
  void saysOnceWhatIsWrongWithAnObjectHoweverOftenItChanges() {
    var one = endpoints(1, BAD_IP.formatted("10.0.0.1"));
    var other = endpoints(2, BAD_IP.formatted("10.0.0.2"));
    var worse = endpoints(3, "subsets: 5");
    var leftOut = "WARN Left out of Endpoints ns/rev-private: "
        + "subsets[0].addresses[0].ip is no IP address: 'nowhere'";

    tell(new Added<>(one, Moment.LATER));
    tell(new Updated<>(one, other));
    assertThat(log.lines()).containsExactly(leftOut);

    tell(new Updated<>(other, worse));
    tell(new Updated<>(worse, worse));
    assertThat(log.lines()).hasSize(2).last()
        .isEqualTo("WARN Skipped Endpoints ns/rev-private: subsets must be a list, not 5");

    tell(new Deleted<>(worse, worse, FinalState.KNOWN));
    tell(new Added<>(one, Moment.LATER));
    assertThat(log.lines()).hasSize(3);
  }
}
