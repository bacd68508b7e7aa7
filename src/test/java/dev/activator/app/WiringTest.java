package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.revision.LiveRevisions;
import dev.activator.ClusterActivator;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.config.NetworkConfig;
import dev.activator.loop.Topic;
import dev.activator.observability.RequestObservers;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.SpringProduct;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.StubQueuedCaller;
import dev.activator.throttle.Throttler;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.net.URI;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/** The order of the wiring list, in the product as it starts, and one path through it. */
class WiringTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final List<String> EXTENSIONS = Extensions.ALL.stream().map(Extensions::name)
      .toList();
  private static final Revision REVISION = Revision.of(ID, 1);

  private final VirtualLoop loop = new VirtualLoop();
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create("http://127.0.0.1:1")), Duration.ofSeconds(1));
  private int probes;
  private final LiveRevisions live = new LiveRevisions(_ -> loop);
  private final RevisionBackendsManager backends = Make.backends(live, loop,
      (on, request, done) -> on.execute(() -> {
        probes++;
        done.accept(new ProbeResult.Refused("connection refused"));
      }));
  private final Throttler throttler = Make.throttler(live, 100);

  @Test
  void aRequestThatHasToWaitHasItsPodProbedAtOnce() {
    new Wiring.Events(cluster, backends, throttler, new PodTls(TestRevisions.unused()),
        NetworkConfig.live()).join();
    var revision = live.update(REVISION);
    backends.revision(revision);
    throttler.onRevision(revision);
    backends.listed(new PrivateEndpoints(ID,
        new PodsByReadiness(DestinationSet.of(new Destination("10.0.0.1", 8012)),
            DestinationSet.NONE),
        PodsByReadiness.NONE));
    // given a pod that has been silent for so long that it is seldom probed
    loop.advance(Duration.ofMinutes(5));
    probes = 0;
    loop.advance(Duration.ofSeconds(1));
    assertThat(probes).isLessThan(2);

    probes = 0;
    var caller = new StubQueuedCaller(loop);
    caller.with(throttler.admit(revision, caller));
    loop.advance(Duration.ofMillis(1));

    assertThat(probes).isEqualTo(1);
  }

  @Test
  void subscribersAreCalledInTheOrderOfTheLists() {
    try (var product = product()) {
      var events = product.getBean(Wiring.Events.class);
      var topics = List.<Topic<?>>of(events.cluster().revisions(),
          events.cluster().pods(), events.cluster().podsGone(), events.cluster().endpointsWatch(),
          events.cluster().clusterIps(), events.cluster().publicAddresses(),
          events.cluster().podStarts().failures(), events.cluster().podStarts().progress(),
          events.cluster().podStarts().progressEnded(), events.backends().healthy(),
          events.throttler().unreachable(), events.throttler().requestWaits());

      assertThat(topics.stream().map(WiringTest::ofTheKernel)).containsExactly(
          "Revision: throttler, backends", "pods: backends", "end of pods: backends",
          "watch of Endpoints: backends", "private Service: backends",
          "public Endpoints: throttler",
          "pods that do not start: throttler", "pods that start: throttler",
          "end of pods that start: throttler", "healthy destinations: pod TLS, throttler",
          "unreachable pods: backends", "requests that wait: backends");
      assertThat(topics).allSatisfy(topic -> assertThat(topic.subscribers()
          .subList(ofTheKernel(topic).split(",").length, topic.subscribers().size()))
          .isSortedAccordingTo(Comparator.comparing(EXTENSIONS::indexOf)));
      assertThat(topics.stream().flatMap(topic -> topic.subscribers().stream()))
          .anyMatch(EXTENSIONS::contains);
      assertThat(product.getBean(RequestObservers.class).all())
          .extracting(observer -> Extensions.name(observer.getClass())).isNotEmpty()
          .isSortedAccordingTo(Comparator.comparing(EXTENSIONS::indexOf));
    }
  }

  /** The topic with its subscribers that are not extensions. */
  private static String ofTheKernel(Topic<?> topic) {
    return topic.toString().split(":")[0] + ": " + topic.subscribers().stream()
        .filter(name -> !EXTENSIONS.contains(name)).collect(Collectors.joining(", "));
  }

  /** All objects of cluster mode, joined, without a cluster: no part is started. */
  private static ConfigurableApplicationContext product() {
    return SpringProduct.of(ClusterActivator.class, Extensions.ALL.stream())
        .web(WebApplicationType.NONE)
        .initializers(context -> context.addBeanFactoryPostProcessor(
            beans -> ((BeanDefinitionRegistry) beans).removeBeanDefinition("activator")))
        .profiles("cluster")
        .run("--activator.cluster.server=http://127.0.0.1:1", "--activator.rescue.enabled=true",
            "--activator.identity.pod-name=activator-0", "--activator.identity.pod-ip=10.0.0.1",
            "--activator.identity.system-namespace=knative-serving");
  }
}
