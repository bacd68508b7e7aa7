/**
 * The request path, from a caller's connection to a pod's and back, on Netty handlers. A request
 * stays on the event loop it came in on; what is decided about it is in {@code policy}.
 */
@NullMarked
package dev.activator.proxy;

import org.jspecify.annotations.NullMarked;
