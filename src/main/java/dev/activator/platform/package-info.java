/**
 * The environments in which the activator runs: a cluster with Knative, a cluster without Knative,
 * or a cluster in this process.
 */
@NullMarked
package dev.activator.platform;

import org.jspecify.annotations.NullMarked;
