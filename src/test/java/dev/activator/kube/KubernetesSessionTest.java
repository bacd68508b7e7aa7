package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.loop.ThreadLoop;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.testing.EmbeddedApi;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KubernetesSessionTest {
  private final EmbeddedApi server = EmbeddedApi.start();
  private final ThreadLoop loop = new ThreadLoop("cluster");
  private final KubernetesSession session = Sessions.of(server.url(), loop,
      ReflectorSettings.DEFAULT, new Random(1));

  @AfterEach
  void close() {
    session.close();
    loop.close();
    server.close();
  }

  @Test
  void endsEachWatchWhenItIsClosed_whetherFollowedOrForATime() throws Exception {
    session.follow(InformerQuery.everywhere(StandaloneKinds.ROUTED_SERVICES, ""), (_, _) -> {
    }).synced().get(30, TimeUnit.SECONDS);
    session.watch(InformerQuery.everywhere(StandaloneKinds.CA_CONFIG_MAPS, ""), (_, _) -> {
    }).synced().get(30, TimeUnit.SECONDS);
    assertThat(session.informers().reflectors()).hasSize(2);

    session.close();

    assertThat(session.informers().reflectors()).isEmpty();
  }
}
