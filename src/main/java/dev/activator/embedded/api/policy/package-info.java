/** Decisions of the API server as functions of values. */
@NullMarked
package dev.activator.embedded.api.policy;

import org.jspecify.annotations.NullMarked;
