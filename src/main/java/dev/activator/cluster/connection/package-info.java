/**
 * How the Kubernetes API is reached: the client and its threads, whether it is there and new enough, and
 * what is followed with it.
 */
@NullMarked
package dev.activator.cluster.connection;

import org.jspecify.annotations.NullMarked;
