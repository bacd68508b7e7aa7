/** Pages that show what the stages publish, and why requests wait. They only read. */
@NullMarked
package dev.activator.console;

import org.jspecify.annotations.NullMarked;
