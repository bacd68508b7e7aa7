package dev.activator.proxy;

import dev.activator.loop.NettyLoop;
import dev.activator.observability.RequestObserver;
import dev.activator.stats.RequestCounter;
import dev.activator.upstream.UpstreamPools;

/**
 * What the requests of one event loop share.
 *
 * <p>
 * <b>Threads.</b> All of it belongs to the loop.
 */
record Worker(NettyLoop loop, UpstreamPools pools, RequestCounter counter,
    HeldBytes.Share held, RequestObserver observer) {}
