/**
 * Numbers with names: every metric in one list, and counts and distributions that many threads add to
 * and a scrape reads. Knows nothing of requests.
 */
@NullMarked
package dev.activator.observability.meter;

import org.jspecify.annotations.NullMarked;
