/**
 * The request path, from a caller's connection to a pod's and back. A request stays on the event loop
 * that it came in on. This package has the connections of callers, in both versions of HTTP.
 */
@NullMarked
package dev.activator.proxy;

import org.jspecify.annotations.NullMarked;
