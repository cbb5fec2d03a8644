import { refusal } from '../../domain/errors.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { IDENTITY } from './dependencies.ts';

const TIMEOUT_MS = 5_000;

/**
 * Runs a decision that looks at several streams (a ceiling, the last super admin) alone in the install and on a read model that has seen
 * every event there is. @throws `not_caught_up` when the read model does not get there in 5 s
 */
export function aloneAndCaughtUp<T>({ exclusive, eventStore, progress }: Pick<IdentityDependencies, 'exclusive' | 'eventStore' | 'progress'>, name: string, work: () => Promise<T>): Promise<T> {
  return exclusive(name, async () => {
    if (!(await progress.waitFor([IDENTITY], await eventStore.head(), TIMEOUT_MS))) throw refusal('not_caught_up', { headers: { 'Retry-After': '1' } });
    return work();
  });
}
