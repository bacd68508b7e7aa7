/**
 * Decisions about a cluster, as functions of values. So far, whether it is new enough.
 */
@NullMarked
package dev.activator.cluster.policy;

import org.jspecify.annotations.NullMarked;
