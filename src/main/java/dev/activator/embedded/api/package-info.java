/**
 * A small Kubernetes API in one process. Controllers use its {@code store}; clients use it over
 * {@code http}, through a watch {@code cache}.
 */
@NullMarked
package dev.activator.embedded.api;

import org.jspecify.annotations.NullMarked;
