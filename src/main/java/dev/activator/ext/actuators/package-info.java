/** Ways to start and stop what has no scale: by patches of an object. */
@NullMarked
package dev.activator.ext.actuators;

import org.jspecify.annotations.NullMarked;
