/** How {@code spec.wake} is read, and what an object's fields and a status say. */
@NullMarked
package dev.activator.ext.actuators.policy;

import org.jspecify.annotations.NullMarked;
