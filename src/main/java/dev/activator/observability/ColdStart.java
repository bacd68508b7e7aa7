package dev.activator.observability;

import dev.activator.observability.request.Outcome;
import dev.activator.observability.request.Phases;
import dev.activator.revision.RevisionId;
import java.time.Instant;

/**
 * A request that came while its revision had no pod that answers.
 *
 * @param revision which was asked
 * @param when it came
 * @param phases what it waited for
 * @param outcome how it ended, or that the pod has begun to answer
 * @param status what its caller was told
 */
public record ColdStart(RevisionId revision, Instant when, Phases phases, Outcome outcome,
    int status) {}
