import { type Static, Type } from '@sinclair/typebox';
import { type ErasePersonDependencies, erasePerson } from '../../../application/platform/erase-person.ts';
import { type PersonExport, exportPerson } from '../../../application/platform/export-person.ts';
import type { PersonIdentifier } from '../../../application/platform/find-subject.ts';
import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { consumeRateLimit } from '../../../application/traffic/consume-limit.ts';
import { invalidField } from '../../../domain/errors.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { AnyMembers, Texts, Timestamp, strict } from '../../http/schemas.ts';
import { sessionPrincipal } from '../identity/session-principal.ts';

export type GdprRouteDependencies = ErasePersonDependencies & { readonly rateCounters: Pick<RateCounters, 'take'> };

const PersonBody = Type.Object(
  {
    email: Type.Optional(Type.String({ maxLength: 320 })),
    user_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The id of one account. An e-mail address covers all accounts that ever had it',
      }),
    ),
  },
  strict,
);

const Export = Type.Object({
  subject: Type.Object({ user_ids: Texts, email: Type.String() }),
  generated_at: Timestamp,
  records: Type.Record(Type.String(), Type.Array(AnyMembers)),
});

const Erasure = Type.Object({
  erased: Type.Record(Type.String(), Type.Integer()),
  kept: Type.Array(Type.Object({ kind: Type.String(), why: Type.String() })),
});

const SHARED = {
  api: 'admin',
  method: 'POST',
  tag: 'platform',
  access: { kind: 'session', roles: ['super_admin'] },
  body: PersonBody,
} as const;
/** Limit of calls per user, because each call may read the whole log. */
const CALLS = { limit: 10, windowSeconds: 60 } as const;

/** Export and erasure of the data about one person. */
export function gdprRoutes(dependencies: GdprRouteDependencies): readonly Route[] {
  const { rateCounters } = dependencies;
  const consume: Route['consume'] = ({ principal }) =>
    consumeRateLimit({ scope: `gdpr/${sessionPrincipal(principal).userId}`, ...CALLS }, { rateCounters });
  return [
    route({
      ...SHARED,
      path: '/api/admin/gdpr/export',
      operation: 'exportPerson',
      summary: 'Export all data about one person',
      responses: { 200: Export },
      refusals: ['person_not_found', 'rate_limited'],
      consume,
      handler: async ({ body, context, signal }) => {
        const exported = await exportPerson(personIn(body), { now: context.now, signal }, dependencies);
        return {
          status: 200,
          headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
          stream: serialised(exported),
        };
      },
    }),
    route({
      ...SHARED,
      path: '/api/admin/gdpr/erase',
      operation: 'erasePerson',
      summary: 'Erase one person: end their sessions, delete their account and destroy the key of their personal data',
      responses: { 200: Erasure },
      refusals: ['person_not_found', 'last_super_admin', 'rate_limited'],
      consume,
      handler: async ({ body, context }) => {
        const { erased, kept, position } = await erasePerson(personIn(body), context, dependencies);
        return {
          status: 200,
          body: { erased, kept },
          ...commitAt(position, ['identity']),
        };
      },
    }),
  ];
}

/** The person that the body names. @throws `validation_failed` unless it has exactly one of `email` and `user_id` */
function personIn({ email, user_id: userId }: Static<typeof PersonBody>): PersonIdentifier {
  if (email !== undefined && userId === undefined) return { email };
  if (userId !== undefined && email === undefined) return { userId };
  throw invalidField('email', 'name the person by email or by user_id');
}

/** Serialises the export record by record. Records of one kind are consecutive. */
async function* serialised({ subject, generatedAt, records }: PersonExport): AsyncIterable<string> {
  yield `{"subject":${JSON.stringify(subject)},"generated_at":${JSON.stringify(generatedAt)},"records":{`;
  let openKind: string | undefined;
  for await (const { kind, record } of records) {
    const lead = kind === openKind ? ',' : `${openKind === undefined ? '' : '],'}${JSON.stringify(kind)}:[`;
    openKind = kind;
    yield `${lead}${JSON.stringify(record)}`;
  }
  yield `${openKind === undefined ? '' : ']'}}}`;
}
