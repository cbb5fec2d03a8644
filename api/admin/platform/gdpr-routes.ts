import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { spendCounter } from '../../../application/identity/spend-counter.ts';
import type { GdprEraseDependencies } from '../../../application/platform/gdpr-erase.ts';
import { erasePerson } from '../../../application/platform/gdpr-erase.ts';
import type { PersonExport } from '../../../application/platform/gdpr-export.ts';
import { exportPerson } from '../../../application/platform/gdpr-export.ts';
import type { PersonNamed } from '../../../application/platform/gdpr-subject.ts';
import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { sessionPrincipal } from '../identity/session-principal.ts';

export type GdprRouteDependencies = GdprEraseDependencies & { readonly rateCounters: Pick<RateCounters, 'take'> };

const Person = Type.Object(
  { email: Type.Optional(Type.String({ maxLength: 320 })), user_id: Type.Optional(Type.String({ maxLength: 64, description: 'of one account; an address covers all that ever had it' })) },
  { additionalProperties: false },
);

const Export = Type.Object({
  subject: Type.Object({ user_ids: Type.Array(Type.String()), email: Type.String() }),
  generated_at: Type.String({ format: 'date-time' }),
  records: Type.Record(Type.String(), Type.Array(Type.Object({}, { additionalProperties: true }))),
});

const Erased = Type.Object({
  erased: Type.Record(Type.String(), Type.Integer()),
  kept: Type.Array(Type.Object({ kind: Type.String(), why: Type.String() })),
});

const access = { kind: 'session', roles: ['super_admin'] } as const;
/** Each call may read the whole log. */
const CALLS = { limit: 10, windowSeconds: 60 } as const;

/** Everything held about one person, told or erased (spec 1, features, license, configuration, privacy; spec 4 A, API keys, audit, usage). */
export function gdprRoutes(dependencies: GdprRouteDependencies): readonly Route[] {
  const { rateCounters } = dependencies;
  const precheck: Route['precheck'] = ({ principal }) => spendCounter(rateCounters, { scope: `gdpr/${sessionPrincipal(principal).userId}`, ...CALLS });
  return [
    route({
      api: 'admin', method: 'POST', path: '/api/admin/gdpr/export', operation: 'exportPerson', tag: 'platform',
      summary: 'Everything held about one person',
      access, body: Person, precheck,
      answers: { 200: Export }, refusals: ['person_not_found', 'rate_limited'],
      handler: async ({ body, context, signal }) => {
        const exported = await exportPerson(dependencies, personIn(body), { now: context.now, signal });
        return { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }, stream: written(exported) };
      },
    }),
    route({
      api: 'admin', method: 'POST', path: '/api/admin/gdpr/erase', operation: 'erasePerson', tag: 'platform',
      summary: 'Erases one person: ends their sessions, deletes their account, destroys the key of what is sealed about them',
      access, body: Person, precheck,
      answers: { 200: Erased }, refusals: ['person_not_found', 'last_super_admin', 'rate_limited'],
      handler: async ({ body, context }) => {
        const { erased, kept, position } = await erasePerson(dependencies, personIn(body), context);
        return { status: 200, body: { erased, kept }, ...(position === undefined ? {} : { commit: { position, readModels: ['identity'] } }) };
      },
    }),
  ];
}

/** @throws `validation_failed` unless the person is named in one way */
function personIn({ email, user_id: userId }: Static<typeof Person>): PersonNamed {
  if (email !== undefined && userId === undefined) return { email };
  if (userId !== undefined && email === undefined) return { userId };
  throw refusal('validation_failed', { fields: [{ field: 'email', message: 'name the person by email or by user_id' }] });
}

/** The answer's JSON, a record at a time; those of one kind follow each other. */
async function* written({ subject, generatedAt, records }: PersonExport): AsyncIterable<string> {
  yield `{"subject":${JSON.stringify(subject)},"generated_at":${JSON.stringify(generatedAt)},"records":{`;
  let open: string | undefined;
  for await (const { kind, record } of records) {
    const lead = kind === open ? ',' : `${open === undefined ? '' : '],'}${JSON.stringify(kind)}:[`;
    open = kind;
    yield `${lead}${JSON.stringify(record)}`;
  }
  yield `${open === undefined ? '' : ']'}}}`;
}
