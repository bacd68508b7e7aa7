/**
 * Decisions about a cluster, as functions of values: whether it is new enough, whether what we hear
 * of it can be trusted, and when to begin anew.
 */
@NullMarked
package dev.activator.cluster.policy;

import org.jspecify.annotations.NullMarked;
