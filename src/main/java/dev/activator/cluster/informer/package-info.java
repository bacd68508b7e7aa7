/**
 * Objects go through a queue into an indexed store and on to every handler. Independent of the
 * client library.
 */
@NullMarked
package dev.activator.cluster.informer;

import org.jspecify.annotations.NullMarked;
