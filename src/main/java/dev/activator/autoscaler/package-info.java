/**
 * Decides how many pods each revision has, from what activators report over a WebSocket in the
 * protocol of Knative's autoscaler. Knows nothing of how pods are made.
 */
@NullMarked
package dev.activator.autoscaler;

import org.jspecify.annotations.NullMarked;
