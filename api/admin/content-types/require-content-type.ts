import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { refusal } from '../../../domain/errors.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';

/** The tenant's content type of this name. @throws `schema_not_found` */
export async function requireContentType(
  { tenant, name }: { readonly tenant: string; readonly name: string },
  { queries }: { readonly queries: Pick<ContentTypeQueries, 'one'> },
): Promise<StoredContentType> {
  const type = await queries.one(tenant, name);
  if (!type) throw refusal('schema_not_found');
  return type;
}
