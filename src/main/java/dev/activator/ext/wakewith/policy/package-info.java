/** The decisions of waking as pure functions. */
@NullMarked
package dev.activator.ext.wakewith.policy;

import org.jspecify.annotations.NullMarked;
