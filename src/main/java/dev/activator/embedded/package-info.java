/**
 * A cluster in one process, for those who have none: a Kubernetes API, revisions as local
 * processes, and what scales them. The product uses it over the same protocols as a real one.
 */
@NullMarked
package dev.activator.embedded;

import org.jspecify.annotations.NullMarked;
