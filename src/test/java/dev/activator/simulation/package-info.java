/** The whole chain in virtual time, from a seed. */
@NullMarked
package dev.activator.simulation;

import org.jspecify.annotations.NullMarked;
