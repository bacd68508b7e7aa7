/** Settings as immutable values, and their parsers. */
@NullMarked
package dev.activator.config;

import org.jspecify.annotations.NullMarked;
