package dev.activator.bench.tcp;

import dev.activator.bench.tcp.NumberedBytes.Header;
import dev.activator.bench.tcp.TcpCluster.Activator;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients with one connection each, of random lengths, sizes and ends; one in ten leaves early.
 *
 * <p><b>Threads.</b> Any. Each connection has its own.
 */
final class NumberedClients {
  private static final int MAX_BYTES = 60_000;
  private static final int MAX_PAUSE_MILLIS = 40;
  private static final int TIMEOUT_MILLIS = 150_000;

  private final TcpCluster cluster;
  private final PodRecords records;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong ids = new AtomicLong();
  private final Semaphore places;
  private final Queue<Connection> whole = new ConcurrentLinkedQueue<>();
  private final AtomicInteger left = new AtomicInteger();
  private final AtomicInteger inKilledPod = new AtomicInteger();
  private final AtomicInteger inKilledActivator = new AtomicInteger();
  private final Queue<String> lost = new ConcurrentLinkedQueue<>();
  private final Queue<Long> waits = new ConcurrentLinkedQueue<>();
  private final Queue<Long> waitsBesideFree = new ConcurrentLinkedQueue<>();

  NumberedClients(TcpCluster cluster, PodRecords records, int atOnce) {
    this.cluster = cluster;
    this.records = records;
    this.places = new Semaphore(atOnce);
  }

  /** Connects once one of the clients is free. */
  void connect() {
    places.acquireUninterruptibly();
    threads.execute(() -> {
      try {
        new Connection(ids.incrementAndGet()).run();
      } finally {
        places.release();
      }
    });
  }

  private Activator choose(Random random) {
    while (true) {
      var all = List.copyOf(cluster.activators());
      if (!all.isEmpty()) {
        return all.get(random.nextInt(all.size()));
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  private final class Connection {
    private final Random random;
    private final Header header;
    /** How it leaves: 1 before a byte, 2 after some, 3 the same by a reset; else not. */
    private final int leaves;
    private final int killsBefore = cluster.endedPodKills();
    private final long freeBefore = cluster.freeNanos();
    private final CountDownLatch greeted = new CountDownLatch(1);
    private volatile long pod = -1;
    private volatile boolean hasLeft;

    private volatile Activator activator;

    Connection(long id) {
      this.random = new Random(id);
      this.header = new Header(id, random.nextInt(MAX_BYTES), random.nextInt(MAX_BYTES));
      this.leaves = random.nextInt(30);
    }

    void run() {
      activator = choose(random);
      long begun = System.nanoTime();
      try (var socket = new Socket()) {
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        socket.connect(activator.at(cluster.tcpPort()));
        var writer = Thread.ofVirtual().unstarted(() -> write(socket));
        writer.start();
        read(socket, begun);
        writer.join();
        if (hasLeft) {
          left.incrementAndGet();
        } else {
          whole.add(this);
        }
      } catch (ConnectException e) {
        failed("refused");
      } catch (IOException e) {
        failed(e.getMessage() + " after "
            + (System.nanoTime() - begun) / 1_000_000 + " ms");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void failed(String why) {
      if (hasLeft) {
        left.incrementAndGet();
      } else if (activator.wasKilled()) {
        inKilledActivator.incrementAndGet();
      } else if (pod >= 0 ? cluster.pod(pod).wasKilled() : cluster.podKills() > killsBefore) {
        // Without a greeting, the pod is one whose kill had not ended before.
        inKilledPod.incrementAndGet();
      } else {
        lost.add(activator.name + ", pod " + pod + ", " + header + ": " + why);
      }
    }

    private void write(Socket socket) {
      try {
        if (leaves == 1) {
          pause();
          hasLeft = true;
          socket.close();
          return;
        }
        if (random.nextBoolean()) {
          // As in protocols whose server speaks first.
          greeted.await();
        }
        var out = socket.getOutputStream();
        var bytes = new byte[header.up()];
        for (int i = 0; i < bytes.length; i++) {
          bytes[i] = header.up(i);
        }
        out.write(header.bytes());
        for (int sent = 0; sent < bytes.length;) {
          int next = Math.min(1 + random.nextInt(20_000), bytes.length - sent);
          out.write(bytes, sent, next);
          sent += next;
          if (random.nextInt(3) == 0) {
            pause();
          }
          if (leaves == 2 || leaves == 3) {
            hasLeft = true;
            if (leaves == 3) {
              socket.setSoLinger(true, 0);
            }
            socket.close();
            return;
          }
        }
        if (header.podEnd() != Header.PodEnd.FIRST) {
          socket.shutdownOutput();
        }
      } catch (IOException e) {
        // The reader sees it, too.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void pause() {
      LockSupport.parkNanos(random.nextInt(MAX_PAUSE_MILLIS) * 1_000_000L);
    }

    private void read(Socket socket, long begun) throws IOException {
      try {
        var in = new DataInputStream(socket.getInputStream());
        pod = in.readLong();
        greeted.countDown();
        waits.add(System.nanoTime() - begun);
        waitsBesideFree.add(cluster.freeNanos() - freeBefore);
        var buffer = new byte[8192];
        int received = 0;
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          for (int i = 0; i < read; i++) {
            if (received >= header.down() || buffer[i] != header.down(received)) {
              records.wrong(header + " got another byte than number " + received);
              return;
            }
            received++;
          }
        }
        if (received < header.down()) {
          throw new IOException("an end in order after " + received + " bytes");
        }
      } finally {
        greeted.countDown();
      }
    }
  }

  /** Returns when all connections have ended. */
  void awaitEnd(int atOnce) {
    places.acquireUninterruptibly(atOnce);
    places.release(atOnce);
  }

  long connections() {
    return ids.get();
  }

  /** Once the pods have read everything: of which connections they did not get everything. */
  void checkWhole() {
    for (var one : List.copyOf(whole)) {
      if (!records.isComplete(one.header.id())) {
        whole.remove(one);
        one.failed("no pod got all bytes");
      }
    }
  }

  /** What became of them, without those that were lost. */
  String counts() {
    return whole.size() + " | " + left + " | " + inKilledPod + " | " + inKilledActivator;
  }

  /** Why connections ended that should have lived. */
  Queue<String> lost() {
    return lost;
  }

  /** How long they waited for the first byte of a pod. */
  long[] waits() {
    return sorted(waits);
  }

  /** How much of that a ready pod had a free place. */
  long[] waitsBesideFree() {
    return sorted(waitsBesideFree);
  }

  private static long[] sorted(Queue<Long> values) {
    return values.stream().mapToLong(Long::longValue).sorted().toArray();
  }
}
