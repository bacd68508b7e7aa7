/**
 * A small Kubernetes API in one process. Others in the process write to its {@code store}; clients
 * see it through a watch {@code cache}, over {@code http}, as they would a cluster's.
 */
@NullMarked
package dev.activator.embedded.api;

import org.jspecify.annotations.NullMarked;
