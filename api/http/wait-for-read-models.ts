import { reasonOf } from '../../application/ports/transient-errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, parsePosition } from '../../domain/event.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { RouteResponse } from './route.ts';

/** How long a write waits for its read models, and a read for its `X-Min-Position`. */
const COMMIT_WAIT_MS = 5000;
const MIN_POSITION_WAIT_MS = 2000;

/**
 * Waits until the read models of a read have reached its `X-Min-Position`.
 * @throws `invalid_header` for a malformed position; `not_caught_up` after 2 seconds
 */
export async function waitForPosition(
  text: string,
  reads: readonly string[],
  { progress }: HttpDependencies,
): Promise<GlobalPosition> {
  const position = parsePosition(text);
  if (position === undefined)
    throw refusal('invalid_header', { message: 'X-Min-Position must be a position as X-Commit-Position carries it' });
  if (reads.length > 0 && !(await progress.waitFor(reads, position, MIN_POSITION_WAIT_MS)))
    throw refusal('not_caught_up');
  return position;
}

/**
 * Waits until the read models of a commit have reached it, and adds `X-Commit-Position`. Adds `X-Projection-Lag: true`
 * when they have not after 5 seconds.
 */
export async function waitForCommit(
  response: RouteResponse,
  commit: NonNullable<RouteResponse['commit']>,
  { progress, logger }: HttpDependencies,
): Promise<RouteResponse> {
  const headers = { ...response.headers, 'X-Commit-Position': commit.position };
  try {
    if (await progress.waitFor(commit.readModels, commit.position, COMMIT_WAIT_MS)) return { ...response, headers };
  } catch (error) {
    // The write is done: a failing read model does not turn its response into an error.
    if (!hasCode(error, 'projection_stopped'))
      logger.error('the read models of a commit could not be waited for', { reason: reasonOf(error) });
  }
  return { ...response, headers: { ...headers, 'X-Projection-Lag': 'true' } };
}
