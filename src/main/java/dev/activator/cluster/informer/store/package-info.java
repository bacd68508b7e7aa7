/**
 * Objects as they were last seen: a snapshot after each change, found by key or by index.
 */
@NullMarked
package dev.activator.cluster.informer.store;

import org.jspecify.annotations.NullMarked;
