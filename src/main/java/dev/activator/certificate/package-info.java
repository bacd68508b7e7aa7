/**
 * Whose certificates are used: files that the settings name, or the Secrets of a cluster; for callers,
 * for pods, for the port of operators.
 */
@NullMarked
package dev.activator.certificate;

import org.jspecify.annotations.NullMarked;
