import type { FieldDefinition } from '../../../domain/content/definition.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { readContentTypes } from './rows.ts';

/**
 * Rewrites the definitions of the tenant's other content types, including deleted ones, after a rename that they refer
 * to. A rename is one event in the stream of the renamed type: the other types get no event and keep their revision.
 */
export async function rewriteOtherTypes(
  tx: Transaction,
  { schema }: Target,
  {
    tenant,
    except,
    rewrite,
  }: {
    readonly tenant: string;
    readonly except: string;
    /** Returns the same array when nothing changes. */
    readonly rewrite: (fields: readonly FieldDefinition[]) => readonly FieldDefinition[];
  },
): Promise<void> {
  for (const { id, definition, retained } of await readContentTypes(tx, schema, { tenant })) {
    if (id === except) continue;
    const [newFields, newRetained] = [rewrite(definition.fields), rewrite(retained)];
    if (newFields === definition.fields && newRetained === retained) continue;
    await tx.query(`update ${schema}._content_types set definition = $2, retained = $3 where type_id = $1`, [
      id,
      JSON.stringify({ ...definition, fields: newFields }),
      JSON.stringify(newRetained),
    ]);
  }
}
