package dev.activator.kube.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.Rig;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import io.fabric8.kubernetes.client.Config;
import java.util.List;
import java.util.Random;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SharedInformersTest {
  @Test
  @DisplayName("equal queries share one list and one watch, until the last is done")
  void sharesOneListAndOneWatch() {
    try (var rig = new Rig().start()) {
      var second = rig.informers.lease(Rig.ENDPOINTS);
      rig.touch("a");
      rig.converges();

      assertThat(second.informer()).isSameAs(rig.lease().informer());
      assertThat(rig.lists()).isOne();
      assertThat(rig.watches()).isOne();
      assertThat(rig.informers.reflectors()).hasSize(1);

      // when one of two is done, twice over, then the other goes on
      second.close();
      second.close();
      rig.touch("b");
      rig.converges();
      assertThat(rig.informers.informers()).hasSize(1);
    }
  }

  @Test
  void endsTheWatchWithTheLastLease() {
    try (var rig = new Rig().start()) {
      var watch = rig.api.faults().journal().calls(Rig.WATCHES).getFirst();

      rig.lease().close();

      rig.api.faults().journal().awaitEnd(watch, Rig.PATIENCE);
      assertThat(rig.informers.reflectors()).isEmpty();
    }
  }

  @Test
  void watchesAnotherNamespaceByItself() {
    try (var rig = new Rig().start()) {
      var elsewhere = InformerQuery.in("elsewhere", KnativeKinds.ENDPOINTS, "");

      try (var other = rig.informers.lease(elsewhere)) {
        await().until(() -> other.informer().hasSynced());
        assertThat(other.informer().store().size()).isZero();
        assertThat(rig.informers.reflectors()).hasSize(2);
      }
    }
  }

  @Test
  @DisplayName("a task that no thread takes fails what it was for, which is said at once")
  void saysThatThereIsNoThread() {
    var config = Config.empty();
    config.setMasterUrl("http://127.0.0.1:1");
    var loop = new VirtualLoop();
    try (var api = new KubernetesApiClient(config, null, KubernetesWriteRateLimiter.UNLIMITED,
        new Refusing())) {
      var informers = Quiescence
          .watch(new SharedInformers(api, new ReflectorContext(loop, ReflectorSettings.DEFAULT,
              new Random(1), new ApiErrorText("http://x"))));
      var lease = informers.lease(Rig.ENDPOINTS);
      loop.run();
      loop.run();
      assertThat(lease.error()).startsWith("cannot ");
      lease.close();
    }
  }

  /** Has no threads. */
  private static final class Refusing extends AbstractExecutorService {
    @Override
    public void execute(Runnable task) {
      throw new RejectedExecutionException("no thread");
    }

    @Override
    public void shutdown() {
      // there is nothing to end
    }

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }
  }
}
