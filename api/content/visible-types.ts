import { readableTypes } from '../../application/content/content-access.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import type { Principal } from '../../domain/identity/principal.ts';

/**
 * The definitions of those types that the caller may read over REST, without the fields that are hidden from the
 * caller. Types with the transport `rest: off`, and types outside the API key's list, are left out.
 */
export function visibleTypes(
  types: readonly ContentType[],
  { tenant, principal }: { readonly tenant: string; readonly principal: Principal | undefined },
  { accessRules }: { readonly accessRules: AccessRules },
): readonly ContentTypeDefinition[] {
  const served = types.filter(
    ({ name, definition }) => definition.transports?.rest !== 'off' && isListedType(principal, name),
  );
  const found = readableTypes(served, { tenant, roles: principal?.roles ?? [] }, { accessRules });
  return found.map(({ type: { definition }, hidden }) =>
    hidden.size === 0
      ? definition
      : { ...definition, fields: definition.fields.filter(({ name }) => !hidden.has(name)) },
  );
}

/**
 * Whether the principal's list of content types includes the type. Only API keys have a list; an empty one includes
 * all.
 */
export function isListedType(principal: Principal | undefined, name: string): boolean {
  return principal?.kind !== 'api_key' || principal.schemas.length === 0 || principal.schemas.includes(name);
}
