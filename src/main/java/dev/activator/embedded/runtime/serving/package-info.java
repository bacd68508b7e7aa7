/**
 * Makes of a Knative Service what Knative would: Revisions, and for each its Deployment, Services
 * and Endpoints. Knows the store of the API and nothing of processes.
 */
@NullMarked
package dev.activator.embedded.runtime.serving;

import org.jspecify.annotations.NullMarked;
