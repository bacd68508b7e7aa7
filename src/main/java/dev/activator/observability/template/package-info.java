/**
 * The part of the language of Go's {@code text/template} that request logs are written in. A
 * template is read once, and says then, with the position, what of it is not understood.
 */
@NullMarked
package dev.activator.observability.template;

import org.jspecify.annotations.NullMarked;
