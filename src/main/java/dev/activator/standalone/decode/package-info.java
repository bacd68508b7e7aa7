/** Readers of ScaledServices and of what they refer to. */
@NullMarked
package dev.activator.standalone.decode;

import org.jspecify.annotations.NullMarked;
