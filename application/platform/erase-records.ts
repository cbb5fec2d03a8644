import type { Subject } from '../ports/personal-records.ts';
import type { ErasePersonDependencies } from './erase-person.ts';

/**
 * Erases the records of a person outside the event store, and their keys. The keys come last: while a key exists, an
 * interrupted erasure still finds the person's records.
 * @returns the number of erased records by kind
 */
export async function eraseRecords(
  subject: Subject,
  { personal, vault }: Pick<ErasePersonDependencies, 'vault' | 'personal'>,
): Promise<Readonly<Record<string, number>>> {
  const erased: Record<string, number> = {};
  for (const records of personal) erased[records.kind] = await records.erase(subject);
  let keys = 0;
  for (const userId of subject.userIds) if (await vault.destroyPerson(userId)) keys += 1;
  return { ...erased, person_keys: keys };
}
