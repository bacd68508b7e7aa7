/**
 * When a Service has a new revision, and how what belongs to a revision is called.
 */
@NullMarked
package dev.activator.embedded.runtime.serving.policy;

import org.jspecify.annotations.NullMarked;
