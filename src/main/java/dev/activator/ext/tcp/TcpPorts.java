package dev.activator.ext.tcp;

import dev.activator.config.RevisionAnnotations;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Slot;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ports of this activator that lead to the TCP ports of workloads, one for each. The status of the
 * ScaledService says which, so that all activators listen on the same one.
 *
 * <p><b>Threads.</b> Any may call; the state belongs to the loop.
 */
final class TcpPorts {
  private static final Logger log = LoggerFactory.getLogger(TcpPorts.class);
  private static final Duration RETRY = Duration.ofMillis(500);
  /** At the first failure, the workload that had the port before may still be closing it. */
  private static final int LOGGED_FAILURE = 2;

  private final ProxyServer proxy;
  private final String bindAddress;
  private final Loop loop;
  private final LiveRevisions revisions;
  private final ProxyHeaders headers;
  private final Taken taken;
  private final Slot<Port> slot;
  private boolean started;

  /** Is notified whether another program has a port. */
  interface Taken {
    void set(int port, boolean taken);
  }

  TcpPorts(ProxyServer proxy, String bindAddress, Loop loop, LiveRevisions revisions,
      ProxyHeaders headers, Taken taken) {
    this.proxy = proxy;
    this.bindAddress = bindAddress;
    this.loop = loop;
    this.revisions = revisions;
    this.headers = headers;
    this.taken = taken;
    this.slot = revisions.declare("TCP port", Port::new, port -> loop.execute(() -> port.set(0)));
  }

  /** Opens the ports that are known, and from now on those that become known. */
  void start() {
    loop.execute(() -> {
      started = true;
      revisions.all(slot).forEach(Port::open);
    });
  }

  void onRevision(LiveRevision revision) {
    int number = number(revision);
    var port = number == 0 ? revision.peek(slot) : revision.slot(slot);
    if (port != null) {
      loop.execute(() -> port.set(number));
    }
  }

  /** 0 if no port leads to the revision. */
  private static int number(LiveRevision revision) {
    var number = revision.spec().annotations().get(RevisionAnnotations.TCP_PORT);
    return number == null || revision.spec().protocol() != PortProtocol.TCP
        ? 0
        : Integer.parseInt(number);
  }

  /** The port that leads to one revision. */
  private final class Port {
    private final LiveRevision to;
    private final ResettableTimer retry = new ResettableTimer(loop, this::open);
    private final LogLimit refusals = new LogLimit();
    /** 0 if it should be closed. */
    private int number;
    private boolean opening;
    private int failures;
    private @Nullable Channel listening;

    Port(LiveRevision to) {
      this.to = to;
    }

    void set(int now) {
      if (now != number) {
        number = now;
        failures = 0;
        close();
        open();
      }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // One that cannot be closed is closed already.
    private void close() {
      retry.cancel();
      var former = listening;
      listening = null;
      if (former != null) {
        former.close();
      }
    }

    void open() {
      if (!started || opening || number == 0 || listening != null) {
        return;
      }
      opening = true;
      int wanted = number;
      var _ = proxy.listenFor(bindAddress, wanted, this::accept)
          .whenCompleteAsync((channel, failure) -> {
            opening = false;
            listening = channel;
            if (wanted != number) {
              // It has changed meanwhile.
              close();
              open();
            } else if (failure == null) {
              opened(channel);
            } else if (!(failure instanceof CancellationException)) {
              failed(failure);
            }
          }, loop);
    }

    private void accept(Channel client, RequestDispatcher dispatcher) {
      headers.accept(client, dispatcher, refusals, ConnectionAddresses.headerVersion(to) != null,
          addresses -> TcpConnection.accept(client, addresses, dispatcher, to, refusals));
    }

    private void opened(Channel channel) {
      failures = 0;
      taken.set(number, false);
      log.info("Listening for connections to {} on {}:{}", to, bindAddress, number);
      channel.closeFuture().addListener(_ -> loop.execute(() -> lost(channel)));
    }

    private void lost(Channel closed) {
      if (listening == closed) {
        listening = null;
        retry.within(RETRY);
      }
    }

    private void failed(Throwable why) {
      failures++;
      if (failures == LOGGED_FAILURE) {
        log.warn("Cannot listen for connections to {} on {}:{}, and tries again: {}", to,
            bindAddress, number, why.getMessage());
        taken.set(number, true);
      }
      retry.within(RETRY);
    }
  }
}
