/**
 * Faults on purpose, for tests of clients: which requests are hit, and by what. They act between
 * the store, the caches and the connections, so the store stays right and clients can recover.
 */
@NullMarked
package dev.activator.embedded.api.faults;

import org.jspecify.annotations.NullMarked;
