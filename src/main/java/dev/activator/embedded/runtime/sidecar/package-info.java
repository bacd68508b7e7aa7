/**
 * What stands in front of each local process and speaks the contract of Knative's queue-proxy. All
 * of one sidecar lives on one event loop.
 */
@NullMarked
package dev.activator.embedded.runtime.sidecar;

import org.jspecify.annotations.NullMarked;
