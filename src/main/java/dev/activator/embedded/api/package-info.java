/**
 * A small Kubernetes API in one process: others write to its {@code store}; clients see it through
 * a watch {@code cache}, over {@code http}.
 */
@NullMarked
package dev.activator.embedded.api;

import org.jspecify.annotations.NullMarked;
