package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.SortedObjects.CacheSnapshot;
import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.loop.NettyLoop;
import dev.activator.testing.TestValues;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** What the cache promises to threads that are not its own. */
class ThreadsTest {
  private static final int KEYS = 5;

  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final NettyLoop loop = new NettyLoop(threads.next());
  private final WatchCache cache = new WatchCache(CONFIG_MAP, loop, patient(), () -> 0);

  /** A read that is not woken waits for two minutes, as all that a slow machine may do. */
  private static WatchCacheSettings patient() {
    var usual = Windows.of(100);
    return new WatchCacheSettings(usual.capacity(), Duration.ofMinutes(2), usual.bookmarkPeriod(),
        usual.bookmarkLead(), usual.closeDelay(), usual.buffers());
  }

  @AfterEach
  void stop() {
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  @DisplayName("never shows a list without its version, in a million reads")
  void neverShowsAListWithoutItsVersion() {
    // given a writer that writes five objects in turn: the one at version r has the number r mod 5
    onLoop(() -> cache.replace(List.of(), 1_000));
    var stopped = new AtomicBoolean();
    writeOn(1_001, stopped);

    // when someone looks again and again
    var wrong = new AtomicInteger();
    for (int i = 0; i < 1_000_000; i++) {
      if (!whole(cache.read(new Freshness.Whatever()).join())) {
        wrong.incrementAndGet();
      }
    }
    stopped.set(true);

    // then no list had an object that is newer than its version, nor lacked one that is not
    assertThat(wrong).hasValue(0);
  }

  private static boolean whole(CacheSnapshot snapshot) {
    for (int key = 0; key < KEYS; key++) {
      long newest = snapshot.revision() - Math.floorMod(snapshot.revision() - key, KEYS);
      var object = snapshot.objects().find("default/o" + key);
      if (object == null ? newest > 1_000 : object.revision() != newest) {
        return false;
      }
    }
    return true;
  }

  private void writeOn(long revision, AtomicBoolean stopped) {
    loop.execute(() -> {
      if (!stopped.get()) {
        put(revision, "o" + revision % KEYS);
        writeOn(revision + 1, stopped);
      }
    });
  }

  @Test
  @DisplayName("answers reads while a watcher is stuck in an event")
  void answersReads_whileAWatcherBlocks() throws Exception {
    // given a watcher that does not return from being told
    var received = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    onLoop(() -> cache.replace(List.of(), 10));
    cache.watch(new CacheWatcher.Request(new After(10), TestValues.ALL_OBJECTS, Bookmarks.UNWANTED,
        Duration.ofMinutes(1)), new Forwarding(FakeOutlet.quick()) {
          @Override
          public void send(WatchMessage signal) {
            received.countDown();
            await(goOn);
          }
        });
    loop.execute(() -> put(11, "a"));
    await(received);

    // when someone reads, then it is answered, with the event
    var read = new FakeReader(cache.read(new Freshness.AtLeast(11)));
    assertThat(read.received()).containsExactly("@11 [default/a@11]");
    goOn.countDown();
  }

  @RepeatedTest(value = 100, name = "A10.2 run {currentRepetition}")
  void wakesEveryoneOfAThousandWhoWait() throws Exception {
    // given a thousand who wait for versions to come
    onLoop(() -> cache.replace(List.of(), 10));
    var random = new Random(7);
    var woken = new CountDownLatch(1_000);
    var late = new AtomicInteger();
    var writing = CompletableFuture.runAsync(() -> LongStream.rangeClosed(11, 1_010)
        .forEach(revision -> loop.execute(() -> put(revision, "a"))));
    for (int i = 0; i < 1_000; i++) {
      long wanted = 11 + random.nextInt(1_000);
      cache.read(new Freshness.AtLeast(wanted)).whenComplete((snapshot, _) -> {
        late.addAndGet(snapshot == null || snapshot.revision() < wanted ? 1 : 0);
        woken.countDown();
      });
    }

    // when a writer writes a thousand versions at once, then all are woken, none by the clock
    writing.get(120, TimeUnit.SECONDS);
    await(woken);
    assertThat(late).hasValue(0);
    onLoop(() -> assertThat(cache.waiting()).isZero());
  }

  private void put(long revision, String name) {
    cache.apply(new ApiStoreChange(ApiStoreChange.Type.MODIFIED, CONFIG_MAP,
        FedCache.object(revision, name, "1"), revision));
  }

  private void onLoop(Runnable task) {
    CompletableFuture.runAsync(task, loop).orTimeout(120, TimeUnit.SECONDS).join();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
