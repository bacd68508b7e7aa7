/** Pure decisions about time. */
@NullMarked
package dev.activator.loop.policy;

import org.jspecify.annotations.NullMarked;
