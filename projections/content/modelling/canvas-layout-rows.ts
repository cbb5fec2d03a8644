import { type CanvasPositions, canvasLayoutEvents } from '../../../domain/content/canvas-layout-events.ts';
import { canvasLayoutDecider } from '../../../domain/content/canvas-layout.ts';
import type { RecordedEvent, StreamRevision } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';

/** A row of the table `canvas_layouts`. */
type CanvasLayoutRow = {
  readonly tenant_id: string;
  readonly positions: CanvasPositions;
  readonly revision: StreamRevision;
};

/** Applies the events of canvas layouts. Other events are ignored. */
export async function projectCanvasLayouts(
  tx: Transaction,
  { schema }: Target,
  events: readonly RecordedEvent[],
): Promise<void> {
  const changes = events.filter(canvasLayoutEvents.includes);
  if (changes.length === 0) return;
  const stored = await tx.query<CanvasLayoutRow>(
    `select tenant_id, positions, revision from ${schema}.canvas_layouts where tenant_id = any($1)`,
    [[...new Set(changes.map(({ metadata }) => metadata.tenant))]],
  );
  const rows = new Map(stored.map((row) => [row.tenant_id, row]));
  for (const change of changes) {
    const { tenant } = change.metadata;
    const before = rows.get(tenant)?.positions ?? canvasLayoutDecider.initialState();
    const positions = canvasLayoutDecider.evolve(before, change);
    rows.set(tenant, { tenant_id: tenant, positions, revision: change.revision });
  }
  await tx.query(
    `insert into ${schema}.canvas_layouts (tenant_id, positions, revision)
     select tenant_id, positions, revision
     from json_to_recordset($1::json) as r(tenant_id text, positions json, revision int8)
     on conflict (tenant_id) do update set positions = excluded.positions, revision = excluded.revision`,
    [JSON.stringify([...rows.values()])],
  );
}
