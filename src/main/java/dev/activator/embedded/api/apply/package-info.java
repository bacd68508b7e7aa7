/** Server-side apply, and who owns which fields. */
@NullMarked
package dev.activator.embedded.api.apply;

import org.jspecify.annotations.NullMarked;
