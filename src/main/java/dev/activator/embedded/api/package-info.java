/**
 * A small Kubernetes API in one process: the store, its kinds and its HTTP server. Others in the
 * process write to {@link dev.activator.embedded.api.ApiStore}; clients see it through a watch
 * cache, as they would a cluster's.
 */
@NullMarked
package dev.activator.embedded.api;

import org.jspecify.annotations.NullMarked;
