import type { RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** Takes away what a deleted tenant lacked; the configurations of features are the install's and stay (spec 4 A, tenants). */
export async function forgetWithheldFeatures(tx: Transaction, { schema }: Target, _deletion: RecordedEvent, slug: string): Promise<void> {
  await tx.query(`delete from ${schema}.withheld_features where tenant_id = $1`, [slug]);
}
