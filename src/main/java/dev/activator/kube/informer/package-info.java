/**
 * Informers: they pass objects through a queue into an indexed store, and notify all handlers. This
 * package does not depend on the client library.
 */
@NullMarked
package dev.activator.kube.informer;

import org.jspecify.annotations.NullMarked;
