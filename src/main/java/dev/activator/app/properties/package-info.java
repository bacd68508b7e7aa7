/**
 * What is fixed at start: a record a prefix of properties, each checked where it is bound, and where
 * their values come from. They are taken apart in the wiring: no feature sees one.
 */
@NullMarked
package dev.activator.app.properties;

import org.jspecify.annotations.NullMarked;
