/**
 * Settings as values, and the parsers that make them from text. A parser says what is wrong with a
 * text, and never guesses.
 */
@NullMarked
package dev.activator.config;

import org.jspecify.annotations.NullMarked;
