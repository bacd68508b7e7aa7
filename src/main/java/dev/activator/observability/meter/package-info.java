/**
 * Every metric in one list, its instruments (of Prometheus' client library), and its export. Knows
 * nothing of requests.
 */
@NullMarked
package dev.activator.observability.meter;

import org.jspecify.annotations.NullMarked;
