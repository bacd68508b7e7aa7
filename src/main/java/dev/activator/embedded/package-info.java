/**
 * Embedded mode, a cluster in one process: a Kubernetes API, and revisions that run as local
 * processes. The activator uses it through the same protocols as a real cluster.
 */
@NullMarked
package dev.activator.embedded;

import org.jspecify.annotations.NullMarked;
