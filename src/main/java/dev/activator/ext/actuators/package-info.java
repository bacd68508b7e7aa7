/** Ways to start and stop what has no scale: by patches of an object, or by calls of URLs. */
@NullMarked
package dev.activator.ext.actuators;

import org.jspecify.annotations.NullMarked;
