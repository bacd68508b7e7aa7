/** Which fields objects have, of which types, and which of them have an effect here. */
@NullMarked
package dev.activator.embedded.api.schema;

import org.jspecify.annotations.NullMarked;
