/**
 * Decides how many pods each revision of embedded mode has, from what activators report over a
 * WebSocket. It speaks the protocol of Knative's autoscaler and knows nothing of how pods are made.
 */
@NullMarked
package dev.activator.embedded.autoscaler;

import org.jspecify.annotations.NullMarked;
