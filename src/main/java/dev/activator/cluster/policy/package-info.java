/** Pure decisions of the cluster package. */
@NullMarked
package dev.activator.cluster.policy;

import org.jspecify.annotations.NullMarked;
