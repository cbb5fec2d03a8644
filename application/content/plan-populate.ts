import type { ContentType } from '../../domain/content/content-type.ts';
import type { FieldDefinition, Transports } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { isStored } from '../../domain/content/field-types.ts';
import { MAX_RELATIONS, type PopulatePlan, type PopulatedRelation } from '../../domain/content/populate-plan.ts';
import { isAppError, refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { type ContentAccess, type ContentAccessDependencies, contentAccess } from './content-access.ts';

export type PopulateQuestion = {
  readonly type: ContentType;
  /** Names of the fields hidden from the caller. */
  readonly hidden: ReadonlySet<string>;
  /** Names of relations; `*` means all of them. */
  readonly names: readonly string[];
  /** 1: the entry's relations; 2: also the relations of the related entries, and so on. */
  readonly depth: number;
  readonly principal: Principal;
  readonly transport: keyof Transports;
};

/**
 * Plans which relations `populate` and `depth` include. A relation to a type that the caller may not read is left out,
 * and its value stays an id. Below the first level all relations are included.
 * @throws `invalid_query_parameter` naming `populate` for a name that is not a relation the caller sees, `depth` for
 *   more than 100 relations in all
 */
export async function planPopulate(
  question: PopulateQuestion,
  dependencies: ContentAccessDependencies,
): Promise<PopulatePlan> {
  const { principal, transport } = question;
  const readable = new Map<string, Promise<ContentAccess | undefined>>();
  let count = 0;
  return plan({ type: question.type, hidden: question.hidden }, question.names, question.depth);

  async function plan(
    { type, hidden }: Pick<ContentAccess, 'type' | 'hidden'>,
    names: readonly string[],
    depth: number,
  ): Promise<PopulatePlan> {
    const relations = type.definition.fields.filter(
      (field) => field.field_type === 'relation' && !hidden.has(field.name),
    );
    const isNamed = (field: FieldDefinition, name: string): boolean =>
      field.name === name || (isStored(field) && keyOf(field) === name);
    const unknown = names.find((name) => name !== '*' && !relations.some((field) => isNamed(field, name)));
    if (unknown !== undefined)
      throw refusal('invalid_query_parameter', { message: 'invalid query parameter: populate' });
    const selected = names.includes('*')
      ? relations
      : relations.filter((field) => names.some((name) => isNamed(field, name)));
    const populated: PopulatedRelation[] = [];
    for (const field of selected) {
      const target = await readTarget(type.tenant, field.relation_to ?? '');
      if (!target || !showsOtherSide(field, target)) continue;
      if ((count += 1) > MAX_RELATIONS)
        throw refusal('invalid_query_parameter', { message: 'invalid query parameter: depth' });
      const relationsBelow = depth > 1 ? await plan(target, ['*'], depth - 1) : [];
      populated.push({ field, type: target.type, hidden: target.hidden, relations: relationsBelow });
    }
    return populated;
  }

  function readTarget(tenant: string, schema: string): Promise<ContentAccess | undefined> {
    const cached = readable.get(schema);
    if (cached) return cached;
    const access = contentAccess({ principal, tenant, schema, action: 'read', transport }, dependencies).catch(
      (error: unknown) => {
        if (isAppError(error) && error.status < 500) return undefined;
        throw error;
      },
    );
    readable.set(schema, access);
    return access;
  }
}

/** A has_one or has_many is read through the belongs_to on the other side, so it is hidden together with that field. */
function showsOtherSide(field: FieldDefinition, { type, hidden }: ContentAccess): boolean {
  if (isStored(field)) return true;
  return (
    !hidden.has(field.relation_field ?? '') && type.definition.fields.some(({ name }) => name === field.relation_field)
  );
}
