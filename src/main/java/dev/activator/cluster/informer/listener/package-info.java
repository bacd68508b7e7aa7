/**
 * Who is told of changes: each listener at its own pace, with what it has yet to hear.
 */
@NullMarked
package dev.activator.cluster.informer.listener;

import org.jspecify.annotations.NullMarked;
