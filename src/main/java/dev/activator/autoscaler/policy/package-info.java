/** How many pods a revision should have, as a pure function of the reports. */
@NullMarked
package dev.activator.autoscaler.policy;

import org.jspecify.annotations.NullMarked;
