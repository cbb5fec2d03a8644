import type { FieldDefinition } from '../../../domain/content/definition.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { readContentTypes } from './rows.ts';

/**
 * Rewrites the fields of the tenant's other content types, deleted ones too, where a rename elsewhere concerns them. Their streams say nothing of
 * it and their revisions stay: the rename is one fact, in one stream.
 */
export async function followTypes(
  tx: Transaction,
  { schema }: Target,
  { tenant, except }: { readonly tenant: string; readonly except: string },
  follow: (fields: readonly FieldDefinition[]) => readonly FieldDefinition[],
): Promise<void> {
  for (const { id, definition, retained } of await readContentTypes(tx, schema, { tenant })) {
    if (id === except) continue;
    const [fields, waiting] = [follow(definition.fields), follow(retained)];
    if (fields === definition.fields && waiting === retained) continue;
    await tx.query(`update ${schema}._content_types set definition = $2, retained = $3 where type_id = $1`, [id, JSON.stringify({ ...definition, fields }), JSON.stringify(waiting)]);
  }
}
