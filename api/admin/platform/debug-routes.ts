import { Type } from '@sinclair/typebox';
import type { Collector, RouteLatencies } from '../../../application/ports/process-insight.ts';
import { type Route, route } from '../../http/route.ts';
import { oneOf, strict } from '../../http/schemas.ts';

export type DebugRouteDependencies = { readonly latencies: RouteLatencies; readonly collector: Collector };

const ADMIN = { kind: 'session', roles: ['admin', 'super_admin'] } as const;
const Latency = Type.Object({
  api: oneOf(['admin', 'content']),
  method: Type.String(),
  route: Type.String(),
  count: Type.Integer(),
  p50_ms: Type.Number(),
  p95_ms: Type.Number(),
  p99_ms: Type.Number(),
  max_ms: Type.Number(),
});
const Config = Type.Object({ gogc: Type.Integer(), heap: Type.Record(Type.String(), Type.Number()) });

/** Latency and memory of this process. Each instance reports its own numbers. */
export function debugRoutes(dependencies: DebugRouteDependencies): readonly Route[] {
  const { latencies, collector } = dependencies;
  const config = () => ({ status: 200, body: { gogc: collector.growth(), heap: collector.heap() } });
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/debug/latency',
      operation: 'getLatency',
      summary: 'List the slowest routes of this process over the last 5 to 10 minutes',
      tag: 'platform',
      access: ADMIN,
      query: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 200, default: 25 }) }),
      responses: { 200: Type.Object({ endpoints: Type.Array(Latency) }) },
      handler: ({ query }) =>
        Promise.resolve({
          status: 200,
          body: { endpoints: latencies.slowest(query.limit).map((latency) => ({ ...latency })) },
        }),
    }),
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/debug/gc-config',
      operation: 'getCollector',
      summary: 'Get the garbage collection settings and the heap usage of this process',
      tag: 'platform',
      access: ADMIN,
      responses: { 200: Config },
      handler: () => Promise.resolve(config()),
    }),
    route({
      api: 'admin',
      method: 'POST',
      path: '/api/admin/debug/gc-config',
      operation: 'setCollector',
      summary:
        'Set by how many percent the heap of this process may grow between two garbage collections; 0 is the default of the engine',
      tag: 'platform',
      access: { kind: 'session', roles: ['super_admin'] },
      body: Type.Object({ gogc: Type.Integer({ minimum: 0, maximum: 10_000 }) }, strict),
      responses: { 200: Config },
      handler: ({ body }) => {
        collector.setGrowth(body.gogc);
        return Promise.resolve(config());
      },
    }),
  ];
}
