/**
 * A local Knative in small: Services become revisions, revisions become local processes behind
 * sidecars, and all of it shows in the embedded API.
 */
@NullMarked
package dev.activator.embedded.runtime;

import org.jspecify.annotations.NullMarked;
