/**
 * Informers: the objects of one list and watch go through a queue into an indexed store, and from
 * there to every handler in order. The reflector feeds them through a
 * {@link dev.activator.cluster.informer.DeltaSink}; nothing here knows a client library.
 */
@NullMarked
package dev.activator.cluster.informer;

import org.jspecify.annotations.NullMarked;
