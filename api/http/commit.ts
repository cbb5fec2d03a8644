import type { GlobalPosition } from '../../domain/event.ts';
import type { Answer } from './route.ts';

/**
 * The `commit` member of a write's answer. `position` is that of the last event written; undefined means that nothing
 * was written, and the answer then carries no commit. The answer is sent once `readModels` have reached the position.
 */
export function commitAt(position: GlobalPosition | undefined, readModels: readonly string[]): Pick<Answer, 'commit'> {
  return position === undefined ? {} : { commit: { position, readModels } };
}
