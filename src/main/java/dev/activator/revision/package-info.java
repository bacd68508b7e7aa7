/** Values that all packages share: revisions, destinations, timeouts, results of API calls. */
@NullMarked
package dev.activator.revision;

import org.jspecify.annotations.NullMarked;
