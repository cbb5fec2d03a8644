import type { GlobalPosition } from '../../domain/event.ts';
import type { RouteResponse } from './route.ts';

/**
 * The `commit` member of a write's response. `position` is that of the last event written; undefined means that nothing
 * was written, and the response then carries no commit. The response is sent once `readModels` have reached the
 * position.
 */
export function commitAt(
  position: GlobalPosition | undefined,
  readModels: readonly string[],
): Pick<RouteResponse, 'commit'> {
  return position === undefined ? {} : { commit: { position, readModels } };
}
