import { type GlobalPosition, ORIGIN } from '../../domain/event.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';
import type { Projection } from './projection.ts';

/**
 * A read model that a process must not serve. `being_built`: its tables of this version are not there yet, or are not
 * filled yet. `replaced`: another process has installed another version.
 */
export type UnservedReadModel = { readonly name: string; readonly reason: 'being_built' | 'replaced' };

/**
 * How long a process goes on after another version was installed, so that the processes of that version are ready
 * first. Their probes share the result of a check for a second.
 */
const REPLACED_AFTER_SECONDS = 5;

/** Tells which of the projections cannot be served by this process. */
export type ReadModelVersions = (queryable: Queryable) => Promise<readonly UnservedReadModel[]>;

/** The function remembers which versions were installed: a version that disappears was replaced. */
export function createReadModelVersions(
  projections: readonly Pick<Projection, 'name' | 'version'>[],
): ReadModelVersions {
  const installed = new Set<string>();
  return async (queryable) => {
    const rows = await queryable.query<{
      name: string;
      version: number;
      served_from: GlobalPosition | null;
      position: GlobalPosition | null;
      is_new: boolean;
    }>(
      `select p.name, p.version, p.served_from, c.position,
         p.installed_at > clock_timestamp() - interval '${REPLACED_AFTER_SECONDS} seconds' as is_new
       from operational.projections p
       left join operational.checkpoints c on c.name = 'projection/' || p.name || '/' || p.version
       where p.name = any ($1)`,
      [projections.map(({ name }) => name)],
      'read-model-versions',
    );
    return projections.flatMap(({ name, version }): readonly UnservedReadModel[] => {
      const row = rows.find((one) => one.name === name);
      if (row?.version !== version) {
        const isReplaced = installed.has(name) || (row?.version ?? 0) > version;
        if (!isReplaced) return [{ name, reason: 'being_built' }];
        return row?.is_new === true && installed.has(name) ? [] : [{ name, reason: 'replaced' }];
      }
      installed.add(name);
      const isFilled = row.served_from === null || (row.position ?? ORIGIN) >= row.served_from;
      return isFilled ? [] : [{ name, reason: 'being_built' }];
    });
  };
}
