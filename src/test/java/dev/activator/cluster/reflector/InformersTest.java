package dev.activator.cluster.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.cluster.Rig;
import dev.activator.cluster.TaskThreads;
import dev.activator.cluster.decode.Items;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class InformersTest {
  @Test
  @DisplayName("5.1 who asks the same shares one list and one watch, until the last is done")
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
      var elsewhere = new Query<>(Items.OfEndpoints.class, Items.EndpointsList.class, "endpoints",
          "elsewhere", "");

      try (var other = rig.informers.lease(elsewhere)) {
        await().atMost(Rig.PATIENCE).until(() -> other.informer().hasSynced());
        assertThat(other.informer().store().size()).isZero();
        assertThat(rig.informers.reflectors()).hasSize(2);
      }
    }
  }

  @Test
  @DisplayName("8.6 a task that no thread takes: an alarm at once, and a new session")
  void alarmsWhenATaskIsDropped() {
    try (var rig = new Rig().start()) {
      rig.informers.distrust("a task was dropped");

      await().atMost(Rig.PATIENCE)
          .until(() -> rig.lease().view().counts().restarts() == 1);
      await().atMost(Rig.PATIENCE).until(() -> !rig.lease().view().health().alarmed());
      rig.touch("a");
      rig.converges();
    }
  }

  @Test
  @DisplayName("8.6 tasks are never refused to the library; that one was dropped is told")
  void tellsThatATaskWasDropped() {
    var told = new CopyOnWriteArrayList<String>();
    try (var threads = new TaskThreads(new Refusing(), told::add)) {
      threads.execute(() -> {
      });
    }

    assertThat(told).containsExactly("a task was dropped, and others may wait for it: no thread");
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
