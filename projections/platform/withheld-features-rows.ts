import type { RecordedEvent } from '../../domain/event.ts';
import { withheldFeaturesEvents } from '../../domain/platform/withheld-features-events.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** Applies the events of withheld features. Other events are ignored. */
export async function projectWithheldFeatures(
  tx: Transaction,
  { schema }: Target,
  events: readonly RecordedEvent[],
): Promise<void> {
  const rows = new Map<string, readonly string[]>();
  for (const event of events) {
    if (withheldFeaturesEvents.includes(event)) rows.set(event.metadata.tenant, event.data.withheld);
  }
  const [emptied, kept] = [
    [...rows].filter(([, withheld]) => withheld.length === 0),
    [...rows].filter(([, withheld]) => withheld.length > 0),
  ];
  if (emptied.length > 0)
    await tx.query(`delete from ${schema}.withheld_features where tenant_id = any($1)`, [
      emptied.map(([tenant]) => tenant),
    ]);
  if (kept.length === 0) return;
  await tx.query(
    `insert into ${schema}.withheld_features (tenant_id, withheld)
     select tenant_id, withheld from jsonb_to_recordset($1::jsonb) as r(tenant_id text, withheld jsonb)
     on conflict (tenant_id) do update set withheld = excluded.withheld`,
    [JSON.stringify(kept.map(([tenant_id, withheld]) => ({ tenant_id, withheld })))],
  );
}
