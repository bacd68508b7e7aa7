/**
 * The request path, from a caller's connection to a pod's and back. This package has the connections
 * of callers, in both versions of HTTP.
 *
 * <p>
 * <b>Threads.</b> A request stays on the event loop that its connection is on. Here and in {@code
 * exchange}, {@code buffer} and {@code codec}, only that loop may call, unless a type says otherwise.
 */
@NullMarked
package dev.activator.proxy;

import org.jspecify.annotations.NullMarked;
