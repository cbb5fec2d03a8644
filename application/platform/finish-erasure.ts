import { hasCode } from '../../domain/errors.ts';
import type { ErasePersonDependencies } from './erase-person.ts';
import { eraseRecords } from './erase-records.ts';
import { findSubject } from './find-subject.ts';

/**
 * Completes an erasure that a crash interrupted or that restoring a backup reverted.
 * @returns whether anything was left to erase
 */
export async function finishErasure(
  { userId }: { readonly userId: string },
  dependencies: Pick<ErasePersonDependencies, 'eventStore' | 'vault' | 'personal'>,
): Promise<boolean> {
  const subject = await findSubject({ person: { userId } }, dependencies).catch((error: unknown) => {
    if (hasCode(error, 'person_not_found')) return undefined;
    throw error;
  });
  if (!subject) return false;
  await eraseRecords(subject, dependencies);
  return true;
}
