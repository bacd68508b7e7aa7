/**
 * Decisions of the API server as functions of values: allowed names, selectors, what a read asks
 * for.
 */
@NullMarked
package dev.activator.embedded.api.policy;

import org.jspecify.annotations.NullMarked;
