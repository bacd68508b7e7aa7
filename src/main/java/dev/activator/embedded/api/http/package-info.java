/**
 * The Kubernetes API over HTTP: paths, bodies, watches as chunked lines and as WebSocket messages,
 * tables for kubectl. It turns requests into calls of the store and the caches, and nothing else.
 */
@NullMarked
package dev.activator.embedded.api.http;

import org.jspecify.annotations.NullMarked;
