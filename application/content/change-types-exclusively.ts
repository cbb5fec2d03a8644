import type { SchemaScope, SchemaSession } from '../ports/schema-sessions.ts';
import { waitForHead } from '../wait-for-read-model.ts';
import { type ContentTypeDependencies, changeInProgress } from './content-type-dependencies.ts';

/**
 * Runs a change of content types while no other process changes them, on a read model that has applied all earlier
 * events.
 * @throws `ddl_in_progress` while another process changes one of the types; `not_caught_up`
 */
export async function changeTypesExclusively<T>(
  { scope, change }: { readonly scope: SchemaScope; readonly change: (session: SchemaSession) => Promise<T> },
  { schemaSessions, eventStore, progress }: Pick<ContentTypeDependencies, 'schemaSessions' | 'eventStore' | 'progress'>,
): Promise<T> {
  const result = await schemaSessions.exclusively(scope, async (session) => {
    await waitForHead({ name: 'content' }, { eventStore, progress });
    return change(session);
  });
  if (!result) throw changeInProgress();
  return result.value;
}
