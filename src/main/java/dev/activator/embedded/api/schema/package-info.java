/**
 * The schemas of objects: their fields and types, and which fields have an effect in embedded mode.
 */
@NullMarked
package dev.activator.embedded.api.schema;

import org.jspecify.annotations.NullMarked;
