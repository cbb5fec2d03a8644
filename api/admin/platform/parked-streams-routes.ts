import { Type } from '@sinclair/typebox';
import type { ParkedStream } from '../../../projections/engine/parked-streams.ts';
import type { RetryOutcome } from '../../../projections/engine/retry-parked.ts';
import { type Route, route } from '../../http/route.ts';
import { oneOf, strict } from '../../http/schemas.ts';

export type ParkedStreamsRouteDependencies = {
  readonly parked: () => Promise<readonly ParkedStream[]>;
  readonly retryParked: (parked: Pick<ParkedStream, 'projection' | 'stream'>) => Promise<RetryOutcome>;
};

const ADMIN = { kind: 'session', roles: ['super_admin'] } as const;

const ListedStream = Type.Object({
  projection: Type.String({ description: 'Name of the checkpoint, such as `projection/content/2`' }),
  stream: Type.String(),
  tenant: Type.String(),
  revision: Type.Integer({ description: 'Revision of the first event that is not applied' }),
  position: Type.String({ description: 'Position of that event' }),
  reason: Type.String(),
  parked_at: Type.String({ format: 'date-time' }),
});
const RetriedStream = Type.Object({
  projection: Type.String(),
  stream: Type.String(),
  outcome: oneOf(['applied', 'parked', 'not_parked']),
});

/** The streams whose events the read models cannot apply. */
export function parkedStreamsRoutes(dependencies: ParkedStreamsRouteDependencies): readonly Route[] {
  const { parked, retryParked } = dependencies;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/projections/parked',
      operation: 'listParkedStreams',
      summary: 'List the streams of all tenants that wait, because a read model cannot apply one of their events',
      tag: 'platform',
      access: ADMIN,
      responses: { 200: Type.Object({ parked: Type.Array(ListedStream) }) },
      handler: async () => ({
        status: 200,
        body: {
          parked: (await parked()).map(({ resumeAfter: _, parkedAt: parked_at, ...stream }) => ({
            ...stream,
            parked_at,
          })),
        },
      }),
    }),
    route({
      api: 'admin',
      method: 'POST',
      path: '/api/admin/projections/parked/retry',
      operation: 'retryParkedStreams',
      summary: 'Apply the waiting events of the parked streams that the body selects; of all, when it selects none',
      tag: 'platform',
      access: ADMIN,
      body: Type.Object({ projection: Type.Optional(Type.String()), stream: Type.Optional(Type.String()) }, strict),
      responses: { 200: Type.Object({ retried: Type.Array(RetriedStream) }) },
      refusals: ['unavailable'],
      async handler({ body }) {
        const retried = [];
        for (const { projection, stream } of await parked()) {
          if ((body.projection ?? projection) !== projection || (body.stream ?? stream) !== stream) continue;
          retried.push({ projection, stream, outcome: await retryParked({ projection, stream }) });
        }
        return { status: 200, body: { retried } };
      },
    }),
  ];
}
