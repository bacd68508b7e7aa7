package dev.activator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.LeadershipCheck;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The console's buttons on a ScaledService. */
class EmbeddedConsoleActionsTest {
  private static final RevisionId SHOP = new RevisionId("shop", "front");

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final VirtualLoop loop = new VirtualLoop();
  private final Autoscaler autoscaler = new Autoscaler(loop, new OnePod(), LeadershipCheck.ALONE,
      new ScalingListener() {
      }, new Random(1));
  private final EmbeddedConsoleActions actions = new EmbeddedConsoleActions(store, autoscaler,
      () -> 8080);

  private static final class OnePod implements ScaleClient<ScaleTarget> {
    private static final ScaleApiResult ONE = new ScaleApiResult.Found(1, 1, "1");

    @Override
    public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
      return CompletableFuture.completedFuture(ONE);
    }

    @Override
    public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload,
        ScaleApiResult.Found read, int replicas) {
      return CompletableFuture.completedFuture(ONE);
    }
  }

  @BeforeEach
  void scale() {
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'replicas': 1,
         'selector': {'matchLabels': {'app': 'web'}}}}
        """));
    for (var app : new String[]{"web", "other"}) {
      store.create(BuiltInKinds.POD, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': '%s-1', 'labels': {'app': '%s'}}, 'spec': {}}
          """.formatted(app, app)));
    }
    autoscaler.start();
    autoscaler.target(TestValues.scaledTarget(SHOP,
        new ScaleTargetRef("apps/v1", "Deployment", "web"), 0,
        OptionalInt.of(5), OptionalInt.of(1), 0, Duration.ofSeconds(60), Duration.ofSeconds(300),
        OptionalInt.empty()));
    loop.run();
  }

  @AfterEach
  void close() {
    api.close();
  }

  @Test
  void scalesItsDeploymentToZero() {
    actions.scaleToZero(SHOP);
    loop.run();

    assertThat(store.find(BuiltInKinds.DEPLOYMENT, "shop", "web").at("/spec/replicas").intValue())
        .isZero();
  }

  @Test
  void restartsThePodsOfItsDeployment() {
    actions.restart(SHOP);

    assertThat(store.find(BuiltInKinds.POD, "shop", "web-1")).isNull();
    assertThat(store.find(BuiltInKinds.POD, "shop", "other-1")).isNotNull();
  }
}
