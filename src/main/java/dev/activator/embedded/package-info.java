/**
 * A cluster in one process: a Kubernetes API, and revisions as local processes. The activator uses it
 * over the same protocols as a real one.
 */
@NullMarked
package dev.activator.embedded;

import org.jspecify.annotations.NullMarked;
