/** Checks that whatever a test started is at rest when the test is over. */
@NullMarked
package dev.activator.testing.quiescence;

import org.jspecify.annotations.NullMarked;
