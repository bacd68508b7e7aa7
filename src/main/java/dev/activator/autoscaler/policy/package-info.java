/** How many pods a revision should have. */
@NullMarked
package dev.activator.autoscaler.policy;

import org.jspecify.annotations.NullMarked;
