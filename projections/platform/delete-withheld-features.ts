import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/**
 * Deletes the withheld features of a deleted tenant. Configurations of features belong to the installation and are
 * kept.
 */
export async function deleteWithheldFeatures(
  tx: Transaction,
  { schema }: Target,
  { slug }: { readonly slug: string },
): Promise<void> {
  await tx.query(`delete from ${schema}.withheld_features where tenant_id = $1`, [slug]);
}
