/**
 * Keeps a mirror of a kind of objects true: lists, watches, lists again where a watch cannot go on,
 * and notices a watch that has gone silent.
 */
@NullMarked
package dev.activator.cluster.reflector;

import org.jspecify.annotations.NullMarked;
