import { refusal } from '../../domain/errors.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import { type ClaimSession, type TakenValues, takenValues } from '../with-claims.ts';

/**
 * Takes the name of a content type for its stream, and releases its old name, with the next append.
 * @throws `schema_exists`
 */
export async function takeTypeName(
  {
    owner,
    taken,
    released,
  }: { readonly owner: string; readonly taken?: ClaimRequest; readonly released?: ClaimRequest },
  session: Pick<ClaimSession, 'take' | 'guardsOf' | 'findHeldValues'>,
): Promise<TakenValues> {
  refuseHeldName(await session.take({ owner, claimed: taken ? [taken] : [], released: released ? [released] : [] }));
  return takenValues({ owner, refuse: refuseHeldName }, session);
}

function refuseHeldName(held: readonly ClaimRequest[]): void {
  if (held.length > 0) throw refusal('schema_exists');
}

/** The claim on the name of a content type. Names are unique in the tenant. */
export function typeNameClaim(tenant: string, name: string): ClaimRequest {
  return { tenant, scope: 'content_type/name', value: name };
}
