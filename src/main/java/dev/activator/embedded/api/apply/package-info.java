/** Server-side apply: the merge of objects, and the ownership of fields. */
@NullMarked
package dev.activator.embedded.api.apply;

import org.jspecify.annotations.NullMarked;
