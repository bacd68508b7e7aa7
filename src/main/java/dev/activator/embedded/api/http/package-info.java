/**
 * The Kubernetes API over HTTP. It only translates requests into calls of the store and the caches.
 */
@NullMarked
package dev.activator.embedded.api.http;

import org.jspecify.annotations.NullMarked;
