/** Settings that are fixed at the start: a record for each prefix, checked where it is bound. */
@NullMarked
package dev.activator.app.properties;

import org.jspecify.annotations.NullMarked;
