/**
 * The connections of callers, in both versions of HTTP: whose turn it is, what is read when, and how a
 * connection ends.
 */
@NullMarked
package dev.activator.proxy.connection;

import org.jspecify.annotations.NullMarked;
