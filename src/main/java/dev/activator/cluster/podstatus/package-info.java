/**
 * Pods of revisions that requests wait for, looked at for as long as these wait, to say why one does not
 * start.
 */
@NullMarked
package dev.activator.cluster.podstatus;

import org.jspecify.annotations.NullMarked;
