/**
 * The request path. This package has the callers' connections.
 *
 * <p><b>Threads.</b> A request stays on the event loop of its connection. Here and in
 * {@code exchange} and {@code codec}, only that loop may call, unless a type says otherwise.
 */
@NullMarked
package dev.activator.proxy;

import org.jspecify.annotations.NullMarked;
