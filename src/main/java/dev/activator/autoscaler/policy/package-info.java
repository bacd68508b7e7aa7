/** How many pods a revision should have, as a function of what was reported and when. */
@NullMarked
package dev.activator.autoscaler.policy;

import org.jspecify.annotations.NullMarked;
