/** What a request wakes in addition to its own revision. */
@NullMarked
package dev.activator.waking;

import org.jspecify.annotations.NullMarked;
