package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.upstream.DeadConnectionDetector.TcpConnectionHealth;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How the checks of many connections share their loop with requests. */
class DeadConnectionDetectorTest {
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final DeadConnectionDetector checks = new DeadConnectionDetector(loop, INTERVAL);
  private final List<Connection> checked = new ArrayList<>();

  @Test
  void letOtherTasksRunInBetweenAndCheckEachConnectionOnce() {
    var connections = connections(1_000);
    List<Integer> before = new ArrayList<>();
    loop.schedule(INTERVAL, () -> otherTask(before));

    loop.advance(INTERVAL);

    assertThat(checked).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(connections);
    assertThat(before).as("how many were checked when other tasks ran").hasSizeGreaterThan(3)
        .startsWith(256, 512, 768);
    loop.advance(INTERVAL);
    assertThat(checked).hasSize(2_000);
  }

  private void otherTask(List<Integer> before) {
    before.add(checked.size());
    if (checked.size() < 1_000) {
      loop.execute(() -> otherTask(before));
    }
  }

  @Test
  void skipsConnections_whenTheyAreClosedDuringACheck() {
    var connections = new HashSet<>(connections(1_000));
    loop.schedule(INTERVAL, () -> {
      connections.removeAll(checked);
      connections.forEach(connection -> connection.channel.close());
    });

    loop.advance(INTERVAL);

    assertThat(Set.copyOf(checked)).hasSize(256).doesNotContainAnyElementsOf(connections);
  }

  private List<Connection> connections(int count) {
    var all = Stream.generate(Connection::new).limit(count).toList();
    all.forEach(checks::add);
    Quiescence.watch(checks, () -> all.forEach(connection -> connection.channel.close()));
    return all;
  }

  private final class Connection implements DeadConnectionDetector.Checked {
    private final EmbeddedChannel channel = new EmbeddedChannel();

    @Override
    public Channel channel() {
      return channel;
    }

    @Override
    public boolean checked(TcpConnectionHealth state) {
      checked.add(this);
      return false;
    }
  }
}
