import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { SchemaScope, SchemaSession } from '../ports/schema-sessions.ts';
import { changeTypesExclusively } from './change-types-exclusively.ts';
import type { ContentTypeDependencies } from './content-type-dependencies.ts';

export type ChangeExistingTypeInput<T> = Omit<SchemaScope, 'tenant' | 'names'> & {
  readonly name: string;
  /** Further names that the change needs for itself. */
  readonly otherNames?: readonly string[];
  /** `types`: all live content types of the tenant. */
  readonly change: (
    stored: StoredContentType,
    session: SchemaSession,
    types: readonly StoredContentType[],
  ) => Promise<T>;
};

/**
 * Runs a change of a live content type; see `changeTypesExclusively`.
 * @throws `schema_not_found`, `ddl_in_progress`, `not_caught_up`
 */
export function changeExistingType<T>(
  { name, otherNames = [], tenantTypes, change }: ChangeExistingTypeInput<T>,
  { tenant }: Pick<CommandContext, 'tenant'>,
  dependencies: Pick<ContentTypeDependencies, 'schemaSessions' | 'eventStore' | 'progress'>,
): Promise<T> {
  return changeTypesExclusively(
    {
      scope: { tenant, names: [name, ...otherNames], tenantTypes },
      async change(session) {
        const types = await session.ofTenant(tenant);
        const stored = types.find((type) => type.name === name);
        if (!stored) throw refusal('schema_not_found');
        return change(stored, session, types);
      },
    },
    dependencies,
  );
}
