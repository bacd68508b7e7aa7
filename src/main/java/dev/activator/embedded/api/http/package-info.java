/**
 * The Kubernetes API over HTTP: paths, bodies, tables, and watches as chunked lines or WebSocket
 * messages. It only translates requests into calls of the store and the caches.
 */
@NullMarked
package dev.activator.embedded.api.http;

import org.jspecify.annotations.NullMarked;
