package dev.activator.ext.tcp;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection, as observers of requests see it: one request that has no headers, and a response
 * that begins with the pod's first byte.
 *
 * <p><b>Threads.</b> Confined to its loop.
 */
abstract class ObservedConnection extends RequestTimeline {
  private static final String TCP = "TCP";

  final RequestDispatcher dispatcher;
  final LiveRevision live;
  private final Revision revision;
  final ConnectionAddresses addresses;

  ObservedConnection(RequestDispatcher dispatcher, LiveRevision live,
      ConnectionAddresses addresses) {
    super(dispatcher.loop().nanoTime());
    this.dispatcher = dispatcher;
    this.live = live;
    this.revision = live.spec();
    this.addresses = addresses;
  }

  @Override
  protected final void saw(RequestObserver.Step step) {
    dispatcher.seams().observer().saw(step, this);
  }

  @Override
  public final long now() {
    return dispatcher.loop().nanoTime();
  }

  final long passedNanos() {
    return now() - arrivedNanos();
  }

  @Override
  public final Revision revision() {
    return revision;
  }

  @Override
  public final LiveRevision routed() {
    return live;
  }

  @Override
  public final String peer() {
    return addresses.client().getAddress().getHostAddress();
  }

  @Override
  public final int peerPort() {
    return addresses.client().getPort();
  }

  @Override
  public final String method() {
    return TCP;
  }

  @Override
  public final String protocol() {
    return TCP;
  }

  @Override
  public final String target() {
    return "";
  }

  @Override
  public final String path() {
    return "";
  }

  @Override
  public final String host() {
    return "";
  }

  @Override
  public final boolean secure() {
    return false;
  }

  @Override
  public final boolean podInHttp2() {
    return false;
  }

  @Override
  public final boolean podSecure() {
    return false;
  }

  @Override
  public final @Nullable String header(String name) {
    return null;
  }

  @Override
  public final List<String> headers(String name) {
    return List.of();
  }

  @Override
  public final void setHeader(String name, String value) {
    // There are no headers.
  }

  @Override
  public final void addResponseHeader(String name, String value) {
    // There are no headers.
  }

  @Override
  public final List<String> responseHeaders(String name) {
    return List.of();
  }
}
