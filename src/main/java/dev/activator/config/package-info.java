/** Settings as values, and the parsers that make them from text. */
@NullMarked
package dev.activator.config;

import org.jspecify.annotations.NullMarked;
