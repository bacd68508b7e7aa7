/**
 * The Helm chart, rendered as Helm does and read as Kubernetes would. Nothing is compared with a
 * stored copy: each test says what must be in it.
 */
@NullMarked
package dev.activator.chart;

import org.jspecify.annotations.NullMarked;
