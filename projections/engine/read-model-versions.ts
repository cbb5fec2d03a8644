import { type GlobalPosition, ORIGIN } from '../../domain/event.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';
import type { Projection } from './projection.ts';

/**
 * A read model that a process must not serve. `being_built`: its tables of this version are not there yet, or are not
 * filled yet. `replaced`: another process has installed another version.
 */
export type UnservedReadModel = { readonly name: string; readonly reason: 'being_built' | 'replaced' };

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
    }>(
      `select p.name, p.version, p.served_from, c.position from operational.projections p
       left join operational.checkpoints c on c.name = 'projection/' || p.name || '/' || p.version
       where p.name = any ($1)`,
      [projections.map(({ name }) => name)],
      'read-model-versions',
    );
    return projections.flatMap(({ name, version }): readonly UnservedReadModel[] => {
      const row = rows.find((one) => one.name === name);
      if (row?.version === version) installed.add(name);
      else return [{ name, reason: installed.has(name) || (row?.version ?? 0) > version ? 'replaced' : 'being_built' }];
      const isFilled = row.served_from === null || (row.position ?? ORIGIN) >= row.served_from;
      return isFilled ? [] : [{ name, reason: 'being_built' }];
    });
  };
}
