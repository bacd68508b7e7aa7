package dev.activator.proxy;

import dev.activator.loop.NettyLoop;
import dev.activator.observability.passage.RequestObserver;
import dev.activator.stats.RequestCounter;
import dev.activator.upstream.UpstreamPools;

/**
 * What the requests of one event loop share.
 *
 * <p>
 * <b>Threads.</b> All of it belongs to the loop.
 *
 * @param startMessages whether callers are told in full what is known of a start that failed
 */
record Worker(NettyLoop loop, UpstreamPools pools, RequestCounter counter,
    HeldBytes.Share held, RequestObserver observer, boolean startMessages) {}
