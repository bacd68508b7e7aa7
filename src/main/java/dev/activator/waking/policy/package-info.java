/** The decisions of waking as pure functions. */
@NullMarked
package dev.activator.waking.policy;

import org.jspecify.annotations.NullMarked;
