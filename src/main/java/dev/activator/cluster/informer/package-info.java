/**
 * One list and one watch shared by many: what was seen goes through a queue into an indexed store,
 * and from there to every listener in order. Knows no client library: what reads the API puts what
 * it sees into a {@link dev.activator.cluster.informer.DeltaSink}.
 */
@NullMarked
package dev.activator.cluster.informer;

import org.jspecify.annotations.NullMarked;
